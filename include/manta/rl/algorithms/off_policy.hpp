// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from a replay memory of what any policy has done: workers act, their transitions go straight to
// the memory, and the learner draws batches from it. DQN, SAC and TD3 differ in how they explore and in what they do
// with a batch.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/algorithms/algorithm.hpp"
#include "manta/rl/learning/replay.hpp"
#include "manta/rl/workers/off_policy_worker.hpp"

namespace manta::rl::detail {

/// What off-policy algorithms are told in common.
struct off_policy_options {
  int workers = 1;
  std::uint64_t seed = 0;
  int environments = 1, fragment = 1;
  double discount = 0.99;
  int batch = 1, steps_per_update = 1, n_step = 1, learning_starts = 0;
  int replay_size = 1, replay_rank = -1;
  double replay_alpha = 0;
  bool normalise_observations = false, normalise_rewards = false;
  exploration_options exploration = {};
  own_collection collection = {};
};

/// Throws manta::error, which names the algorithm and the environment, unless the actions are numbers between finite
/// bounds.
MANTA_DECL void require_bounded_actions(const std::string& algorithm, const any_environment& e);

/// Moves parameters towards those of another network: by this part of the difference.
MANTA_DECL void move_towards(std::span<float> slow, std::span<const float> net, double part);

class off_policy : public algorithm {
 protected:
  MANTA_DECL off_policy(std::string name, const any_environment& e, const off_policy_options& o);

  MANTA_DECL void iterate(report& r) override;
  /// The network whose outputs the workers explore from.
  [[nodiscard]] virtual const nn::network<float>& acting() const = 0;
  /// The part of actions that depend on chance alone: all before learning starts.
  [[nodiscard]] MANTA_DECL virtual double randomness() const;
  /// How much of the bias of priorities is taken away.
  [[nodiscard]] virtual double importance() const { return 1; }
  /// One step of the learner with a batch whose observations are filtered. Writes the error of each transition, and
  /// adds to the figures, of which the report has the means.
  virtual void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                      std::map<std::string, double>& figures) = 0;
  /// Networks and optimisers.
  [[nodiscard]] virtual std::string learner_state() const = 0;
  /// Changes nothing if it throws.
  virtual void restore_learner(const std::string& bytes, bool own_settings) = 0;

  [[nodiscard]] const moments& filter() const { return filter_; }
  /// What the workers have of the program's own, for descriptions.
  [[nodiscard]] std::string own_parts() const { return named(told_.exploration.own) + named(told_.collection); }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, bool own_settings) override;
  /// Steps of the learner before this one.
  [[nodiscard]] std::uint64_t updates() const { return updates_; }

 private:
  void start_workers();
  void sample();
  void learn(int count, report& r);

  off_policy_options told_;
  moments filter_;
  moments gains_;  ///< of the discounted sums of rewards
  std::uint64_t updates_ = 0;
  actor<replay> memory_;
  std::vector<actor<off_policy_worker>> workers_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/off_policy.ipp"
#endif
