// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Plans on learnt models: particles follow each candidate, each by one model to the end of the plan (Chua et al., 2018,
// as TS-infinity), and the return of a candidate is their mean.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "manta/rl/models/cem.hpp"
#include "manta/rl/models/dynamics_ensemble.hpp"
#include "manta/rl/models/model_reward.hpp"
#include "manta/rl/policies/action_planner.hpp"
#include "manta/rl/policies/box_scale.hpp"

namespace manta::rl::detail {

struct ensemble_plan_setting {
  dynamics_ensemble models;
  cem_options search;
  int particles = 5;
  own_model_reward reward;  ///< none: it is learnt
  template <class Archive>
  void serialize(Archive& archive) {
    archive(models, search, particles, reward);
  }
};

class ensemble_planner final : public action_planner {
 public:
  MANTA_DECL ensemble_planner(const space& actions, const ensemble_plan_setting& s);
  [[nodiscard]] int memory_size() const override { return 1 + static_cast<int>(search_.size()); }
  MANTA_DECL void act(std::span<const float> observation, std::span<float> memory, std::span<float> action) override;

 private:
  /// Adds the returns of one particle of each candidate, divided by the number of particles.
  void follow(int particle, std::span<const float> observation, const nn::matrix<float>& lines,
              std::span<double> returns);
  /// The reward and the end of a step of candidate k, in place of what was learnt.
  void judge_by_program(Eigen::Index k);

  ensemble_plan_setting setting_;
  line_search search_;
  std::unique_ptr<const model_reward> reward_;
  box_scale scale_;
  nn::matrix<float> noise_;  ///< a column for each step of each particle, which all candidates have in common
  nn::matrix<float> states_, actions_;
  std::vector<float> alive_, sent_;
  model_prediction step_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/models/ensemble_planner.ipp"
#endif
