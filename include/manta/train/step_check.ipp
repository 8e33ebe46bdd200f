// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/train/problem.hpp"
#include "manta/train/step_check.hpp"

namespace manta::train::detail {

template <class T>
bool all_of_them_finite(std::span<T> numbers) {
  return nn::all_finite(std::span<const T>(numbers));
}

MANTA_DECL bool are_finite(const number_array& numbers) {
  return numbers.visit([](auto all) { return all_of_them_finite(all); });
}

MANTA_DECL const char* kind_of_odd(double number) { return base::is_nan(number) ? "NaN" : "infinite"; }

MANTA_DECL std::string odd_gradient(learner& l) {
  return l.gradients().visit([&](auto all) -> std::string {
    if (all_of_them_finite(all)) return "";
    std::size_t at = 0;
    while (all_of_them_finite(all.subspan(at, 1))) ++at;
    const std::string name = l.array_at(at);
    return base::text("gradient{} became {}", name.empty() ? "" : " by " + name,
                      kind_of_odd(static_cast<double>(all[at])));
  });
}

MANTA_DECL std::string remedy_for_odd(learner& l, std::span<const std::uint64_t> samples) {
  std::string odd;
  (void)problem_of([&] { odd = l.find_odd_number(samples); });
  if (!odd.empty()) return base::text("Look at the data: {}", odd);
  return "The samples are finite: try a smaller rate, or clip the gradients";
}

/// The norm of all gradients, as one vector.
inline double gradient_norm(learner& l) {
  return l.gradients().visit([]<class T>(std::span<T> all) {
    constexpr std::size_t piece = 4096;  // sums of floats stay short
    double sum = 0;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      const auto part = all.subspan(at, std::min(piece, all.size() - at));
      const Eigen::Map<const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>> v(
          part.data(), static_cast<Eigen::Index>(part.size()));
      const auto squares = static_cast<double>(v.squaredNorm());
      sum += base::is_finite(squares) ? squares : v.template cast<double>().squaredNorm();
    }
    return std::sqrt(sum);
  });
}

/// Only a step that is very large can give parameters that are not finite, and pays for a copy of what was before.
MANTA_DECL std::string make_step(learner& l, double clip, double& norm) {
  norm =
      clip > 0 ? l.gradients().visit([&](auto gradients) { return nn::clip_norm(gradients, clip); }) : gradient_norm(l);
  constexpr double large = 1e15;
  const double rate = l.rate();
  const bool is_large = rate >= large || l.gradients().visit([&]<class T>(std::span<T> gradients) {
    return nn::any_reaches(std::span<const T>(gradients), static_cast<T>(large / std::max(1., rate)));
  });
  if (!is_large) return l.update(), "";
  const std::string before = l.save();
  l.update();
  if (are_finite(l.parameters()) && are_finite(l.moments())) return "";
  l.load(before, taken::all);
  return base::text("with the rate {} the optimiser would make parameters or moments that are not finite", rate);
}

}  // namespace manta::train::detail
