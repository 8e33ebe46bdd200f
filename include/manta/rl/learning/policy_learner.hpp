// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What learns a policy and its values from fragments of its workers: the policy, its optimisers and filters. PPO, A2C,
// A3C and IMPALA differ in the rule by which it takes steps, and so does a class of the program's own:
//
//   class my_rule : public rl::policy_learner {
//    public:
//     my_rule(const rl::any_environment& e, const rl::learner_options& o)
//         : policy_learner("my_rule", e, o, nn::adam({.rate = 1e-3})) {}
//     void learn(const rl::fragment& all, rl::report& r) override;  // zero_gradients(), add_gradients(..), step(..)
//   };
//   rl::on_policy algorithm(std::make_unique<my_rule>("CartPole-v1", rl::learner_options{.workers = 4}));
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/nn/schedule.hpp"
#include "manta/rl/base/report.hpp"
#include "manta/rl/learning/learner.hpp"
#include "manta/rl/policies/trained_policy.hpp"
#include "manta/rl/workers/worker.hpp"

namespace manta::rl {

/// What these learners are told in common, and what is said of the workers that act for them.
struct learner_options {
  int workers = 1, environments = 8;
  std::uint64_t seed = 0;
  rollout how = {};
  bool normalise_observations = true, normalise_rewards = true;
  model_options model = {};
  own_collection collection = {};
  std::uint64_t anneal_steps = 0;  ///< see ppo_options
  nn::schedule schedule = {};      ///< likewise
  bool can_remember = false;       ///< the rule takes policies with a memory
  int more_for_critic = 0;         ///< numbers behind those of an observation that the critic alone reads
  trained_policy begin_with = {};  ///< see ppo_options
};

class policy_learner : public learner {
 public:
  /// like: an optimiser with the settings of those of the networks.
  MANTA_DECL policy_learner(std::string name, const any_environment& e, learner_options o, const nn::optimizer& like);

  /// The rule: steps with all that the workers have sent. Writes its figures into the report.
  MANTA_DECL virtual void learn(const fragment& all, report& r);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const learner_options& told() const { return told_; }
  /// What workers act by.
  [[nodiscard]] policy::weights weights() const { return policy_.get(); }
  /// How the next fragments are made: as told, with rewards scaled by what is known of them.
  [[nodiscard]] MANTA_DECL rollout next_rollout() const;
  /// The filters learn from a fragment's moments, for the next fragments.
  MANTA_DECL void learn_moments(const std::vector<moments>& seen, const std::vector<moments>& gains);
  /// How often learn() was called.
  [[nodiscard]] std::uint64_t lessons() const { return lessons_; }
  void count_lesson() { ++lessons_; }
  /// The part of the rate that annealing and the schedule leave at this step.
  [[nodiscard]] MANTA_DECL double rate_left() const;

  [[nodiscard]] acting_policy acting() const override {
    return {environment_,
            policy_.actor(),
            policy_.filter().part(0, static_cast<std::size_t>(environment_.observations().features())),
            {.by = action_choice::drawing::distribution,
             .distribution = told_.model.distribution,
             .spread = policy_.spread()}};
  }
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override {
    return {policy_.actor().parameters(), policy_.critic().parameters(), policy_.spread()};
  }
  [[nodiscard]] MANTA_DECL std::string description() const override;
  [[nodiscard]] MANTA_DECL std::string state() const override;
  MANTA_DECL void restore(const std::string& state) override;

  // --- what rules are made of

  [[nodiscard]] policy& its_policy() { return policy_; }
  [[nodiscard]] const distribution& its_distribution() const { return *distribution_; }
  /// What the actor reads of observations, which have behind them what the critic alone reads.
  [[nodiscard]] MANTA_DECL const nn::matrix<float>& read_by_actor(const nn::matrix<float>& all);
  [[nodiscard]] std::vector<float>& spread_gradients() { return spread_gradients_; }
  MANTA_DECL void zero_gradients();
  /// All gradients, array by array.
  [[nodiscard]] MANTA_DECL std::vector<std::span<float>> gradients();
  /// Clips the norm of all gradients together, and takes the step. Returns the norm. Throws manta::error, and takes no
  /// step, if that is not finite.
  MANTA_DECL double step(double clip);

 protected:
  learner_options told_;
  policy policy_;
  std::unique_ptr<distribution> distribution_;
  std::vector<float> spread_gradients_;

 private:
  void begin_with(const acting_policy& p);

  std::string name_;
  std::uint64_t lessons_ = 0;
  nn::optimizer actor_optimizer_, critic_optimizer_, spread_optimizer_;
  moments gains_{1};
  nn::matrix<float> read_by_actor_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/learning/policy_learner.ipp"
#endif
