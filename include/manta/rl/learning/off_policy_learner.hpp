// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What learns from batches of a replay memory: networks, their optimisers and filters. DQN, SAC and TD3 differ in the
// rule by which they take steps, and so does a class of the program's own:
//
//   class my_rule : public rl::off_policy_learner {
//    public:
//     my_rule(const rl::any_environment& e, const rl::off_policy_options& o);  // off_policy_learner("my_rule", e, o)
//     const nn::network<float>& network() const override;                              // the workers explore by it
//     void update(const rl::replay::sample& s, rl::random& numbers, std::vector<float>& errors,
//                 std::map<std::string, double>& figures) override;                    // a step with a batch
//     std::vector<std::span<const float>> parameters() const override;
//     std::string networks() const override;                                           // for checkpoints, and back:
//     void restore_networks(const std::string& bytes) override;
//   };
//   rl::off_policy algorithm(std::make_unique<my_rule>("CartPole-v1", rl::off_policy_options{.workers = 2}));
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/nn/schedule.hpp"
#include "manta/rl/learning/learner.hpp"
#include "manta/rl/learning/replay.hpp"
#include "manta/rl/policies/action_planner.hpp"
#include "manta/rl/policies/exploration.hpp"
#include "manta/rl/policies/trained_policy.hpp"
#include "manta/rl/workers/collection.hpp"

namespace manta::rl {

/// What these learners are told in common, and what is said of the workers and of the memory. dqn_options
/// has more words.
struct off_policy_options {
  int workers = 1;
  std::uint64_t seed = 0;
  int environments = 8, fragment = 32;
  double discount = 0.99;
  int batch = 64, steps_per_update = 1, updates = 1, n_step = 1, learning_starts = 1000;
  int replay_size = 50'000, replay_rank = -1;
  double replay_alpha = 0;
  bool normalise_observations = true, normalise_rewards = true;
  exploration_options exploration = {};
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all environments
  own_collection collection = {};
  trained_policy begin_with = {};
};

class off_policy_learner : public learner {
 public:
  MANTA_DECL off_policy_learner(std::string name, const any_environment& e, const off_policy_options& o);

  /// The network whose outputs the workers explore from.
  [[nodiscard]] virtual const nn::network<float>& network() const = 0;
  /// What acts instead of that network, if anything does.
  [[nodiscard]] virtual own_action_planner planner() const { return {}; }
  /// The part of actions that depend on chance alone: all before learning starts.
  [[nodiscard]] MANTA_DECL virtual double randomness() const;
  /// How much of the bias of priorities is taken away.
  [[nodiscard]] virtual double importance() const { return 1; }
  /// One step of the learner with a batch whose observations are filtered. Writes the error of each transition, and
  /// adds to the figures, of which the report has the means.
  virtual void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                      std::map<std::string, double>& figures) = 0;
  /// Networks and optimisers.
  [[nodiscard]] virtual std::string networks() const = 0;
  /// With the settings of the object's own optimisers. Changes nothing if it throws.
  virtual void restore_networks(const std::string& bytes) = 0;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const off_policy_options& told() const { return told_; }
  [[nodiscard]] const moments& filter() const { return filter_; }
  /// Steps of the learner before this one.
  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  /// What rewards are multiplied by.
  [[nodiscard]] double reward_scale() const { return told_.normalise_rewards ? 1 / gains_.deviation(0) : 1; }
  /// The filters learn from what the workers have seen.
  MANTA_DECL void learn_moments(const std::vector<moments>& seen, const std::vector<moments>& gains);
  /// Filters a batch as it was drawn, and takes a step with it.
  MANTA_DECL void learn(replay::sample s, std::vector<float>& errors, std::map<std::string, double>& figures);

  [[nodiscard]] MANTA_DECL acting_policy acting() const override;
  [[nodiscard]] MANTA_DECL std::string description() const override;
  [[nodiscard]] MANTA_DECL std::string state() const override;
  MANTA_DECL void restore(const std::string& state) override;

 protected:
  /// A step of an optimiser with the part of its rate that the schedule leaves.
  MANTA_DECL void step(nn::optimizer& o, std::span<float> parameters, std::span<const float> gradients) const;
  /// The policy that acts by another network than network().
  [[nodiscard]] acting_policy acting_by(const nn::network<float>& net) const;
  /// The part that has passed of the first `steps` steps of all environments.
  [[nodiscard]] double progress(int steps) const {
    return std::min(1.0, static_cast<double>(steps_) / std::max(1, steps));
  }
  /// The network of .begin_with in place of one of the rule's, and its filter; nothing where there is none.
  MANTA_DECL void begin_with(nn::network<float>& net);

  off_policy_options told_;

 private:
  std::string name_;
  moments filter_;
  moments gains_{1};  ///< moments of the discounted sums of rewards
  std::uint64_t updates_ = 0;
};

namespace detail {

/// Throws manta::error, which names the algorithm and the environment, unless the actions are numbers
/// between finite bounds.
MANTA_DECL void require_bounded_actions(const std::string& algorithm, const any_environment& e);

/// Throws manta::error unless observations are plain numbers, whose differences a model can predict.
MANTA_DECL void require_plain_numbers(const std::string& algorithm, const any_environment& e);

/// Huber's loss of an error, whose slope is bounded.
struct huber {
  explicit huber(float error) : slope(std::clamp(error, -1.f, 1.f)) {
    const double e = std::abs(static_cast<double>(error));
    loss = e <= 1 ? e * e / 2 : e - 0.5;
  }
  float slope;
  double loss;
};

/// Throws manta::error, which names the option, unless it is a part of the difference by which a slow network can move.
MANTA_DECL void require_follow(double follow);

/// Moves parameters towards those of another network: by this part of the difference.
MANTA_DECL void move_towards(std::span<float> slow, std::span<const float> net, double part);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/learning/off_policy_learner.ipp"
#endif
