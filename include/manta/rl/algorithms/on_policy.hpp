// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from what their policy has just done: workers act with the current policy, their fragments are
// joined in the order of the environments, and the learner takes steps with them. PPO and A2C differ in these steps,
// and so does an algorithm of the program's own: one whose learner has a rule of its own (policy_learner.hpp), or,
// shorter, a class that is both:
//
//   class my_algorithm : public rl::on_policy {
//    public:
//     explicit my_algorithm(const rl::any_environment& e)
//         : on_policy("my_algorithm", e, {.workers = 4, .how = {.steps = 128}}, manta::nn::adam({.rate = 1e-3})) {}
//
//    protected:
//     void learn(const rl::fragment& all, rl::report& r) override;  // zero_gradients(), add_gradients(..), step(..)
//   };
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/learning/policy_learner.hpp"

namespace manta::rl {

class on_policy : public algorithm {
 public:
  /// Starts the workers of which the learner was told.
  MANTA_DECL explicit on_policy(std::unique_ptr<policy_learner> l);

 protected:
  /// With a learner whose rule is learn() of the derived class. like: see policy_learner.
  MANTA_DECL on_policy(const std::string& name, const any_environment& e, learner_options o, const nn::optimizer& like);

  MANTA_DECL void iterate(report& r) override;
  /// Steps of the learner with all that the workers have sent.
  virtual void learn(const fragment& all, report& r) { learner_->learn(all, r); }

  [[nodiscard]] const learner& learned() const override { return *learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  void start_workers();
  fragment gather();

  std::unique_ptr<policy_learner> learner_;
  std::vector<actor<detail::rollout_worker>> workers_;

 protected:
  // What learn() of a derived class works with.
  void zero_gradients() { learner_->zero_gradients(); }
  double step(double clip) { return learner_->step(clip); }
  policy& policy_;
  const std::unique_ptr<const distribution> distribution_;
  std::vector<float>& spread_gradients_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/on_policy.ipp"
#endif
