// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from what their policy has just done: workers act with the current policy, their fragments are
// joined in the order of the environments, and the learner takes steps with them. PPO and A2C differ in these steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/rl/algorithm.hpp"
#include "manta/rl/worker.hpp"

namespace manta::rl {

namespace detail {

/// What on-policy algorithms are told in common.
struct on_policy_options {
  int workers = 1, environments = 8;
  std::uint64_t seed = 0;
  rollout how;
  bool normalise_observations = true, normalise_rewards = true;
  model_options model;
};

class on_policy : public algorithm {
 protected:
  MANTA_DECL on_policy(std::string name, const any_environment& e, on_policy_options o, const nn::optimizer& like);

  MANTA_DECL void iterate(report& r) override;
  /// Steps of the learner with all that the workers have sent.
  virtual void learn(const fragment& all, report& r) = 0;

  [[nodiscard]] best_policy best() const override { return {environment_, policy_.actor(), policy_.filter()}; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, bool own_settings) override;
  [[nodiscard]] MANTA_DECL std::string description() const override;

  /// Clips the norm of all gradients together, and takes the step. Returns the norm.
  MANTA_DECL double step(double clip);
  MANTA_DECL void zero_gradients();

  on_policy_options told_;
  policy policy_;
  std::unique_ptr<distribution> distribution_;
  std::vector<float> spread_gradients_;
  nn::optimizer actor_optimizer_, critic_optimizer_, spread_optimizer_;

 private:
  void start_workers();
  fragment gather();

  moments gains_{1};
  std::vector<actor<rollout_worker>> workers_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/on_policy.ipp"
#endif
