// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// PETS (Chua et al., 2018): an ensemble of networks learns what the environment does, and each action is the first one
// of a plan that is made on them by the cross-entropy method. For actions that are numbers between bounds, in
// environments whose steps are dear: it needs few of them, and much computing for each. Opt-in: include this header.
//
//   rl::pets algorithm("Pendulum-v1", {.workers = 4, .seed = 1});
//   while (algorithm.train().steps < 5'000) {}
//   Eigen::VectorXf torque = algorithm.act(observation);                // plans
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/manta.hpp"
#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/models/cem.hpp"
#include "manta/rl/models/dynamics_ensemble.hpp"
#include "manta/rl/models/model_reward.hpp"
#include "manta/rl/policies/player.hpp"
#include "manta/rl/worlds/classic.hpp"

namespace manta::rl {

struct pets_options {
  int workers = 1;  ///< actors that plan and act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 4;        ///< environments of all workers together
  int fragment = 25;           ///< steps of each environment between two visits to the learner
  int learning_starts = 400;   ///< steps before the first plan, with actions that depend on chance alone
  int models = 5;              ///< networks of the ensemble
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all environments
  double weight_decay = 1e-5;
  int batch = 64;            ///< transitions of each network in a step of the learner
  int steps_per_update = 1;  ///< steps of environments between two visits to the memory
  int updates = 2;           ///< steps of the learner in each of them
  int replay_size = 100'000;
  int replay_rank = -1;    ///< the rank that keeps the replay in its memory; -1: the learner's
  int horizon = 20;        ///< steps of a plan
  int candidates = 100;    ///< plans that are judged in a round
  int elites = 10;         ///< the best of them, around which those of the next round are drawn
  int rounds = 4;          ///< rounds for each action
  double deviation = 0.5;  ///< that of the first candidates from the plan, in halves of the distance between the bounds
  int particles = 5;       ///< that follow each candidate, each by one of the networks
  own_model_reward reward = {};    ///< instead of a reward that is learnt: rl::own<my_reward>(..)
  model_options model = {};        ///< layers of each network
  own_collection collection = {};  ///< changes transitions before they are kept: rl::own<my_class>(..)

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(environments), CEREAL_NVP(fragment),
            CEREAL_NVP(learning_starts), CEREAL_NVP(models), CEREAL_NVP(rate), CEREAL_NVP(weight_decay),
            CEREAL_NVP(batch), CEREAL_NVP(steps_per_update), CEREAL_NVP(updates), CEREAL_NVP(replay_size),
            CEREAL_NVP(replay_rank), CEREAL_NVP(horizon), CEREAL_NVP(candidates), CEREAL_NVP(elites),
            CEREAL_NVP(rounds), CEREAL_NVP(deviation), CEREAL_NVP(particles), CEREAL_NVP(model));
  }
};

namespace detail {

/// Learns the models.
class pets_learner final : public off_policy_learner {
 public:
  MANTA_DECL pets_learner(const any_environment& e, const pets_options& o);

  /// None acts: it gives what it reads.
  [[nodiscard]] const nn::network<float>& network() const override { return identity_; }
  [[nodiscard]] MANTA_DECL own_action_planner planner() const override;
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override { return models_.parameters(); }
  [[nodiscard]] std::string networks() const override { return models_.state(); }
  void restore_networks(const std::string& bytes) override { models_.restore(bytes); }
  [[nodiscard]] MANTA_DECL std::string description() const override;

 private:
  pets_options options_;
  dynamics_ensemble models_;
  nn::network<float> identity_;
};

}  // namespace detail

/// Reports have model_loss, and model_error, the root of the mean square of what the networks predicted wrongly before
/// each step, where the deviation of what is predicted is 1. trained() is a policy that plans: each of its actions
/// takes as long as one of training.
class pets final : public off_policy {
 public:
  using options = pets_options;

  /// Throws manta::error if the environment's actions are not numbers between finite bounds, or if
  /// the options make no sense.
  MANTA_DECL explicit pets(const any_environment& e, const pets_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/pets.ipp"
#endif
