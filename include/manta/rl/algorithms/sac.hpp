// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Soft actor-critic (Haarnoja et al., 2018): a random policy that is rewarded for its entropy, two critics, and a
// temperature that holds the entropy at a target. For actions that are numbers between bounds.
//
//   rl::sac algorithm("Pendulum-v1", {.workers = 2, .seed = 1});
//   while (algorithm.train().steps < 15'000) {}
//   Eigen::VectorXf torque = algorithm.act(observation);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/learning/twin_critics.hpp"
#include "manta/rl/models/dream_options.hpp"
#include "manta/rl/policies/squashed_gaussian.hpp"

namespace manta::rl {

struct sac_options {
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
  double follow = 0.005;       ///< the part of the difference by which the slow critics move in each update
  int replay_size = 100'000;
  int replay_rank = -1;                ///< the rank that keeps the replay in its memory; -1: the learner's
  double temperature = 1;              ///< temperature of the entropy, at the beginning
  bool learn_temperature = true;       ///< so that the entropy stays near its target
  double target_entropy = 0;           ///< 0: minus the number of numbers of an action
  bool pink_noise = true;              ///< random numbers of exploration are correlated over steps (rl::pink_noise)
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = false;      ///< divided by the running deviation of the discounted return
  model_options model = {};
  own_exploration exploration = {};  ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};    ///< changes transitions before they are kept: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy of a sac to begin with instead of random numbers

  /// MBPO (Janner et al., 2019): models of the environment are learnt, and the learner learns from steps that they
  /// dream as well, so that it needs fewer real ones: {.models = 5}
  dream_options dreams = {};

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_replay_options(archive, *this);
    archive(CEREAL_NVP(temperature), CEREAL_NVP(learn_temperature), CEREAL_NVP(target_entropy), CEREAL_NVP(pink_noise),
            CEREAL_NVP(dreams));
  }
};

namespace detail {

/// SAC's rule.
class sac_learner : public off_policy_learner {
 public:
  MANTA_DECL sac_learner(const any_environment& e, const sac_options& o, const std::string& name = "sac");

  [[nodiscard]] const nn::network<float>& network() const override { return actor_; }
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  [[nodiscard]] MANTA_DECL std::vector<std::span<const float>> parameters() const override;
  [[nodiscard]] MANTA_DECL std::string networks() const override;
  MANTA_DECL void restore_networks(const std::string& bytes) override;
  [[nodiscard]] MANTA_DECL std::string description() const override;

 protected:
  /// Actions for columns of observations: writes outputs_, noise_, actions_ and log_densities_.
  MANTA_DECL void sample_actions(const nn::matrix<float>& observations, random& numbers);
  /// Actions that a rule wants to be valued less than those of the batch: none.
  virtual twin_critics::other_actions* others(const replay::sample&, random&) { return nullptr; }

  squashed_gaussian<float> distribution_;
  twin_critics critics_;
  nn::matrix<float> actions_;
  std::vector<float> log_densities_;

 private:
  /// A step with a batch, real or dreamt.
  void take_step(const replay::sample& s, random& numbers, std::vector<float>& errors,
                 std::map<std::string, double>& figures);
  void improve_actor(const nn::matrix<float>& observations, random& numbers, std::map<std::string, double>& figures);

  sac_options options_;
  nn::network<float> actor_;
  nn::optimizer actor_optimizer_, temperature_optimizer_;
  float log_temperature_;
  nn::matrix<float> outputs_, noise_, by_outputs_;
  dreams_pointer dreams_;  ///< null without .dreams
};

}  // namespace detail

class sac final : public off_policy {
 public:
  using options = sac_options;

  /// Throws manta::error if the environment's actions are not numbers between finite bounds.
  MANTA_DECL explicit sac(const any_environment& e, const sac_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/sac.ipp"
#endif
