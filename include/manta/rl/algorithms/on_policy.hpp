// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from what their policy has just done: workers act with the current policy, their fragments are
// joined in the order of the environments, and the learner takes steps with them. PPO and A2C differ in these steps,
// and so does an algorithm of the program's own.
#pragma once

#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/learning/policy_learner.hpp"

namespace manta::rl::detail {

class on_policy : public policy_learner {
 protected:
  MANTA_DECL on_policy(const std::string& name, const any_environment& e, learner_options o, const nn::optimizer& like);

  MANTA_DECL void iterate(report& r) override;
  /// Steps of the learner with all that the workers have sent.
  virtual void learn(const fragment& all, report& r) = 0;

  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, bool own_settings) override;

 private:
  void start_workers();
  fragment gather();

  std::vector<actor<rollout_worker>> workers_;
};

}  // namespace manta::rl::detail

namespace manta::rl {
// What an algorithm of the program's own is made of, whose update rule is learn():
//
//   class my_algorithm : public rl::on_policy {
//    public:
//     explicit my_algorithm(const rl::any_environment& e)
//         : on_policy("my_algorithm", e, {.workers = 4, .how = {.steps = 128}}, manta::nn::adam({.rate = 1e-3})) {}
//
//    protected:
//     void learn(const rl::fragment& all, rl::report& r) override;      // zero_gradients(), add_gradients(..),
//     step(..)
//   };
using detail::learner_options;
using detail::on_policy;
}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/on_policy.ipp"
#endif
