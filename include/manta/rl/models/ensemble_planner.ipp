// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/rl/models/ensemble_planner.hpp"

namespace manta::rl::detail {

MANTA_DECL ensemble_planner::ensemble_planner(const space& actions, const ensemble_plan_setting& s)
    : setting_(s),
      search_(actions.size(), s.search),
      reward_(s.reward ? s.reward.make() : nullptr),
      scale_(*actions.as_box()),
      sent_(static_cast<std::size_t>(actions.size())) {}

/// The memory is the number of the step, then the plan.
MANTA_DECL void ensemble_planner::act(std::span<const float> observation, std::span<float> memory,
                                      std::span<float> action) {
  const std::span<float> line = memory.subspan(1);
  random numbers(setting_.search.seed, static_cast<std::uint64_t>(memory[0]), 62);
  noise_.resize(setting_.models.features(), Eigen::Index{setting_.particles} * setting_.search.horizon);
  for (float& x : noise_.reshaped()) x = static_cast<float>(numbers.normal());
  search_.improve(line, numbers, [&](const nn::matrix<float>& lines, std::span<double> returns) {
    std::ranges::fill(returns, 0.);
    for (int p = 0; p < setting_.particles; ++p) follow(p, observation, lines, returns);
  });
  std::ranges::copy(line.first(action.size()), action.begin());
  search_.shift(line);
  memory[0] += 1;
}

inline void ensemble_planner::follow(int particle, std::span<const float> observation, const nn::matrix<float>& lines,
                                     std::span<double> returns) {
  const Eigen::Index count = lines.cols(), size = scale_.size();
  states_ = Eigen::Map<const Eigen::VectorXf>(observation.data(), std::ssize(observation)).replicate(1, count);
  alive_.assign(static_cast<std::size_t>(count), 1 / static_cast<float>(setting_.particles));
  for (int t = 0; t < setting_.search.horizon; ++t) {
    actions_ = lines.middleRows(t * size, size);
    setting_.models.predict(particle % setting_.models.models(), states_, actions_,
                            noise_.col(Eigen::Index{particle} * setting_.search.horizon + t), step_);
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto j = static_cast<std::size_t>(k);
      if (reward_) judge_by_program(k);
      returns[j] += static_cast<double>(alive_[j] * step_.rewards[j]);
      alive_[j] *= 1 - step_.ends[j];
    }
    states_.swap(step_.next);
  }
}

inline void ensemble_planner::judge_by_program(Eigen::Index k) {
  const auto column = [k](const nn::matrix<float>& m) {
    return std::span(m.col(k).data(), static_cast<std::size_t>(m.rows()));
  };
  scale_.to_environment(actions_.col(k).data(), sent_.data());
  const auto before = column(states_), after = column(step_.next);
  const auto j = static_cast<std::size_t>(k);
  step_.rewards[j] = static_cast<float>((*reward_)(before, sent_, after));
  if (const std::optional<bool> ends = reward_->ends(before, sent_, after)) step_.ends[j] = *ends ? 1.f : 0.f;
}

}  // namespace manta::rl::detail
