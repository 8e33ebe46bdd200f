// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What algorithms have in common that learn a policy and its values from fragments of its workers: the policy, its
// optimisers and filters. on_policy.hpp waits for all workers at each step of the learner, crew.hpp for none.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/rl/algorithms/algorithm.hpp"
#include "manta/rl/workers/worker.hpp"

namespace manta::rl::detail {

/// What these algorithms are told in common.
struct learner_options {
  int workers = 1, environments = 8;
  std::uint64_t seed = 0;
  rollout how = {};
  bool normalise_observations = true, normalise_rewards = true;
  model_options model = {};
  own_collection collection = {};
  std::uint64_t anneal_steps = 0;  ///< see ppo_options
  bool can_remember = false;       ///< the learner takes policies with a memory
};

class policy_learner : public algorithm {
 protected:
  MANTA_DECL policy_learner(const std::string& name, const any_environment& e, learner_options o,
                            const nn::optimizer& like);

  [[nodiscard]] best_policy best() const override {
    return {environment_, policy_.actor(), policy_.filter(), told_.model.distribution};
  }
  [[nodiscard]] MANTA_DECL std::string description() const override;
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override {
    return {policy_.actor().parameters(), policy_.critic().parameters(), policy_.spread()};
  }

  /// How the next fragments are made: as told, with rewards scaled by what is known of them.
  [[nodiscard]] MANTA_DECL rollout next_rollout() const;
  /// The filters learn from a fragment's moments, for the next fragments.
  MANTA_DECL void learn_moments(const std::vector<moments>& seen, const std::vector<moments>& gains);

  /// Policy, optimisers and filters; without workers.
  [[nodiscard]] MANTA_DECL std::string learner_state() const;
  MANTA_DECL void restore_learner(const std::string& bytes, bool own_settings);

  MANTA_DECL void zero_gradients();
  /// All gradients, array by array.
  [[nodiscard]] MANTA_DECL std::vector<std::span<float>> gradients();
  /// Clips the norm of all gradients together, and takes the step. Returns the norm. Throws manta::error, and takes no
  /// step, if that is not finite.
  MANTA_DECL double step(double clip);
  learner_options told_;
  policy policy_;
  std::unique_ptr<distribution> distribution_;
  std::vector<float> spread_gradients_;

 private:
  /// 1, or what annealing leaves of the rate at this step.
  [[nodiscard]] double rate_left() const;

  nn::optimizer actor_optimizer_, critic_optimizer_, spread_optimizer_;
  moments gains_{1};
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/learning/policy_learner.ipp"
#endif
