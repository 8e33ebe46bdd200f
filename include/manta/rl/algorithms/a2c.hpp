// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Advantage actor-critic, synchronous: all workers act for a few steps, then the learner takes one step (Mnih et al.,
// 2016, without the asynchrony). a3c.hpp is the asynchronous form.
#pragma once

#include <optional>

#include "manta/rl/algorithms/on_policy.hpp"
#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/learning/actor_critic.hpp"

namespace manta::rl {

struct a2c_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 16;           ///< environments of all workers together
  int fragment = 16;               ///< steps of each environment for a step of the learner
  int updates = 8;                 ///< steps of the learner in an iteration
  double rate = 1e-3;              ///< learning rate of RMSProp
  std::uint64_t anneal_steps = 0;  ///< within them the rate falls in a line to 0; 0: the rate stays
  nn::schedule schedule = {};      ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  double lambda = 1;  ///< lambda of generalised advantage estimation; 1: returns of n steps
  /// The weight of the entropy in the loss. Nothing: 0.001 for choices, and 0 where an action has numbers of a box,
  /// since the entropy of these has no upper bound.
  std::optional<double> entropy = {};
  double value = 0.5;                  ///< the weight of the value's loss
  double clip_norm = 0.5;              ///< the largest norm of all gradients together; 0: any
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the deviation of discounted returns of some 50 000 steps past
  model_options model = {};
  own_collection collection = {};  ///< changes steps before they are learnt from: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy to begin with instead of random numbers; see ppo_options

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_policy_options(archive, *this);
    archive(CEREAL_NVP(updates));
  }
};

namespace detail {

/// A2C's rule: one step with each fragment. An iteration's report has the means over its steps.
class a2c_learner : public policy_learner {
 public:
  MANTA_DECL a2c_learner(const any_environment& e, const a2c_options& o);
  MANTA_DECL void learn(const fragment& all, report& r) override;

 private:
  loss_weights weights_;
  double clip_norm_;
  loss_sums sums_;  ///< sums of the iteration
  double norms_ = 0;
  int updates_ = 0;
};

}  // namespace detail

class a2c final : public on_policy {
 public:
  using options = a2c_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit a2c(const any_environment& e, const a2c_options& o = {});

 protected:
  MANTA_DECL void iterate(report& r) override;

 private:
  int updates_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/a2c.ipp"
#endif
