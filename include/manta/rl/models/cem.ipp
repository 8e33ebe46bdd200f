// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/models/cem.hpp"
#include "manta/rl/policies/box_scale.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL line_search::line_search(int actions, const cem_options& o)
    : actions_(actions),
      options_(o),
      deviations_(static_cast<std::size_t>(actions) * static_cast<std::size_t>(std::max(0, o.horizon))) {
  require_one(".horizon", o.horizon, " step");
  require_one(".candidates", o.candidates);
  require_one(".elites", o.elites);
  require_one(".rounds", o.rounds);
  if (o.elites > o.candidates)
    throw error(
        base::text("manta: rl: .elites is {}, and .candidates is {}; the elites are the best candidates, so "
                   "there are at most as many",
                   o.elites, o.candidates));
  if (!(o.deviation > 0 && o.deviation <= 10))
    throw error(base::text("manta: rl: .deviation is {}; it has to be positive, such as 0.5", o.deviation));
  if (!(o.momentum >= 0 && o.momentum < 1))
    throw error(base::text("manta: rl: .momentum is {}; it has to be from 0 to less than 1", o.momentum));
  if (!(o.kept >= 0 && o.kept <= 1))
    throw error(base::text("manta: rl: .kept is {}; it has to be from 0 to 1", o.kept));
}

MANTA_DECL void line_search::improve(std::span<float> line, random numbers, const judge& j) {
  lines_.resize(static_cast<Eigen::Index>(line.size()), options_.candidates);
  returns_.resize(static_cast<std::size_t>(options_.candidates));
  std::ranges::fill(deviations_, static_cast<float>(options_.deviation));
  kept_.resize(lines_.rows(), 0);
  for (int round = 0; round < options_.rounds; ++round) {
    draw(line, numbers);
    j(lines_, returns_);
    take_best(line);
  }
}

/// The last candidate is the line itself, and before it stand those of the round before.
inline void line_search::draw(std::span<const float> line, random& numbers) {
  const Eigen::Index last = lines_.cols() - 1, drawn = std::max<Eigen::Index>(0, last - kept_.cols());
  for (Eigen::Index k = 0; k < drawn; ++k) {
    for (std::size_t i = 0; i < line.size(); ++i)
      lines_(static_cast<Eigen::Index>(i), k) =
          std::clamp(line[i] + deviations_[i] * static_cast<float>(numbers.normal()), -1.f, 1.f);
  }
  lines_.middleCols(drawn, last - drawn) = kept_.leftCols(last - drawn);
  std::ranges::copy(line, lines_.col(last).data());
}

/// Means and deviations of the elites.
inline void line_search::take_best(std::span<float> line) {
  for (double& r : returns_) {
    if (!base::is_finite(r)) r = std::numeric_limits<double>::lowest();
  }
  order_.resize(returns_.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto elites = order_.begin() + options_.elites;
  std::partial_sort(order_.begin(), elites, order_.end(), [&](int a, int b) {
    const double x = returns_[static_cast<std::size_t>(a)], y = returns_[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  kept_.resize(lines_.rows(), static_cast<Eigen::Index>(options_.kept * options_.elites));
  for (Eigen::Index k = 0; k < kept_.cols(); ++k) kept_.col(k) = lines_.col(order_[static_cast<std::size_t>(k)]);
  const auto before = static_cast<float>(options_.momentum), count = static_cast<float>(options_.elites);
  for (std::size_t i = 0; i < line.size(); ++i) {
    float sum = 0, squares = 0;
    for (auto k = order_.begin(); k != elites; ++k) sum += lines_(static_cast<Eigen::Index>(i), *k);
    const float mean = sum / count;
    for (auto k = order_.begin(); k != elites; ++k) {
      const float d = lines_(static_cast<Eigen::Index>(i), *k) - mean;
      squares += d * d;
    }
    line[i] = before * line[i] + (1 - before) * mean;
    deviations_[i] = before * deviations_[i] + (1 - before) * std::sqrt(squares / count);
  }
}

MANTA_DECL void line_search::shift(std::span<float> line) const {
  std::shift_left(line.begin(), line.end(), actions_);
  std::ranges::fill(line.last(static_cast<std::size_t>(actions_)), 0.f);
}

inline const box& bounded_actions(const space& actions) {
  const box* const b = actions.as_box();
  if (b == nullptr || !box_scale(*b).has_bounds())
    throw error(base::text("manta: rl: cem plans actions that are numbers between finite bounds; these are {}",
                           actions.text()));
  return *b;
}

}  // namespace detail

MANTA_DECL cem::cem(const space& actions, const cem_options& o)
    : actions_(detail::bounded_actions(actions)), search_(actions_.size(), o), line_(search_.size()) {}

MANTA_DECL Eigen::VectorXf cem::act_by(const judge_of_all& judge) {
  const detail::box_scale scale(*actions_.as_box());
  const auto to_bounds = [&](const float* from, float* to, Eigen::Index numbers) {
    for (Eigen::Index i = 0; i < numbers; i += action_size()) scale.to_environment(from + i, to + i);
  };
  Eigen::MatrixXf candidates;
  search_.improve(line_, random(search_.options().seed, step_++, 61),
                  [&](const nn::matrix<float>& lines, std::span<double> returns) {
                    candidates.resize(lines.rows(), lines.cols());
                    for (Eigen::Index k = 0; k < lines.cols(); ++k)
                      to_bounds(lines.col(k).data(), candidates.col(k).data(), lines.rows());
                    judge(candidates, returns);
                  });
  Eigen::VectorXf first(action_size());
  to_bounds(line_.data(), first.data(), action_size());
  search_.shift(line_);
  return first;
}

MANTA_DECL Eigen::MatrixXf cem::plan() const {
  const detail::box_scale scale(*actions_.as_box());
  Eigen::MatrixXf all(action_size(), search_.options().horizon);
  for (Eigen::Index t = 0; t < all.cols(); ++t)
    scale.to_environment(line_.data() + t * action_size(), all.col(t).data());
  return all;
}

MANTA_DECL void cem::begin_episode() {
  std::ranges::fill(line_, 0.f);
  step_ = 0;
}

}  // namespace manta::rl
