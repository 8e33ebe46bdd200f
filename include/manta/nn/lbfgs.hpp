// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The step of L-BFGS, on plain arrays.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "manta/nn/parameter_groups.hpp"

namespace manta::nn::detail {

struct curvature_settings {
  double rate;
  std::uint64_t history;  ///< the most pairs
  bool is_first;          ///< no step was made before
};

/// Moves the parameters by -H g, with the inverse of the curvature H that pairs of steps s and differences of gradients
/// y say (Nocedal, 1980). `kept` has the gradient and the step of the step before, then all s, then all y, in rings;
/// `pairs` counts those that were met.
template <class T>
void curvature_step(std::span<T> p, std::span<const T> g, std::span<T> kept, std::uint64_t& pairs,
                    const std::vector<parameter_range>& ranges, const curvature_settings& o) {
  using vector = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
  const auto n = static_cast<Eigen::Index>(p.size());
  const auto array = [&](std::uint64_t i) { return vector(kept.data() + static_cast<Eigen::Index>(i) * n, n); };
  const auto s = [&](std::uint64_t pair) { return array(2 + pair % o.history); };
  const auto y = [&](std::uint64_t pair) { return array(2 + o.history + pair % o.history); };
  const auto dot = [](const auto& a, const auto& b) { return static_cast<double>((a * b).sum()); };
  vector gradient_before = array(0), step_before = array(1);
  Eigen::Array<T, Eigen::Dynamic, 1> gradient(n), direction(n);
  for (const parameter_range& r : ranges) {
    for (std::size_t i = r.begin; i < r.end; ++i)
      gradient(static_cast<Eigen::Index>(i)) = r.rate == 0 ? T(0) : g[i] + static_cast<T>(r.weight_decay) * p[i];
  }
  constexpr double least = 1e-10;  // as PyTorch's
  direction = gradient - gradient_before;
  if (!o.is_first && dot(direction, step_before) > least) {
    s(pairs) = step_before;
    y(pairs++) = direction;
  }
  const std::uint64_t first = pairs - std::min(pairs, o.history);
  std::vector<double> parts(static_cast<std::size_t>(pairs - first));
  direction = -gradient;
  for (std::uint64_t i = pairs; i-- > first;) {
    double& part = parts[static_cast<std::size_t>(i - first)];
    part = dot(s(i), direction) / dot(s(i), y(i));
    direction -= static_cast<T>(part) * y(i);
  }
  if (pairs > first) direction *= static_cast<T>(dot(s(pairs - 1), y(pairs - 1)) / dot(y(pairs - 1), y(pairs - 1)));
  for (std::uint64_t i = first; i < pairs; ++i) {
    const double back = dot(y(i), direction) / dot(s(i), y(i));
    direction += static_cast<T>(parts[static_cast<std::size_t>(i - first)] - back) * s(i);
  }
  const double sum = std::max(1e-300, static_cast<double>(gradient.abs().sum()));
  const double length = o.is_first ? std::min(1., 1 / sum) : 1;
  for (const parameter_range& r : ranges) {
    const auto at = static_cast<Eigen::Index>(r.begin), count = static_cast<Eigen::Index>(r.end - r.begin);
    step_before.segment(at, count) = static_cast<T>(length * o.rate * r.rate) * direction.segment(at, count);
  }
  gradient_before = gradient;
  vector(p.data(), n) += step_before;
}

}  // namespace manta::nn::detail
