// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Twin delayed deep deterministic policy gradients (Fujimoto et al., 2018): a policy without chance, two critics,
// later values smoothed by noise, and a policy that learns more slowly than its critics. For actions that are
// numbers between bounds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/learning/twin_critics.hpp"

namespace manta::rl {

struct td3_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 4;        ///< environments of all workers together
  int fragment = 16;           ///< steps of each environment between two visits to the learner
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  int batch = 128;             ///< transitions of a step of the learner
  int steps_per_update = 1;    ///< steps of environments between two visits to the memory
  int updates = 1;             ///< steps of the learner in each of them
  int n_step = 1;              ///< rewards that are summed before the value
  int learning_starts = 1000;  ///< steps before the first update, with actions that depend on chance alone
  double follow = 0.005;       ///< the part of the difference by which the slow networks move
  int replay_size = 100'000;
  int replay_rank = -1;                ///< the rank that keeps the replay in its memory; -1: the learner's
  double noise = 0.2;                  ///< the deviation of exploration, in units of half the distance of the bounds
  double target_noise = 0.2;           ///< likewise, of the noise that smoothes the values of later actions
  double target_clip = 0.5;            ///< its largest size
  int updates_per_policy = 2;          ///< steps of the critics for each step of the policy and of the slow networks
  bool pink_noise = true;              ///< random numbers of exploration are correlated over steps (rl::pink_noise)
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = false;      ///< divided by the running deviation of the discounted return
  model_options model = {};
  own_exploration exploration = {};  ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};    ///< changes transitions before they are kept: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy of a td3 to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_replay_options(archive, *this);
    archive(CEREAL_NVP(noise), CEREAL_NVP(target_noise), CEREAL_NVP(target_clip), CEREAL_NVP(updates_per_policy),
            CEREAL_NVP(pink_noise));
  }
};

namespace detail {

/// TD3's rule.
class td3_learner : public off_policy_learner {
 public:
  MANTA_DECL td3_learner(const any_environment& e, const td3_options& o);

  [[nodiscard]] const nn::network<float>& network() const override { return actor_; }
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  [[nodiscard]] MANTA_DECL std::vector<std::span<const float>> parameters() const override;
  [[nodiscard]] MANTA_DECL std::string networks() const override;
  MANTA_DECL void restore_networks(const std::string& bytes) override;
  [[nodiscard]] MANTA_DECL std::string description() const override;

 private:
  /// Actions of the slow policy with noise.
  const nn::matrix<float>& later_actions(const nn::matrix<float>& observations, random& numbers);
  void improve_actor(const nn::matrix<float>& observations, std::map<std::string, double>& figures);

  td3_options options_;
  nn::network<float> actor_, slow_actor_;
  twin_critics critics_;
  nn::optimizer actor_optimizer_;
  nn::matrix<float> actions_, by_outputs_;
};

}  // namespace detail

class td3 final : public off_policy {
 public:
  using options = td3_options;

  /// Throws manta::error if the environment's actions are not numbers between finite bounds.
  MANTA_DECL explicit td3(const any_environment& e, const td3_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/td3.ipp"
#endif
