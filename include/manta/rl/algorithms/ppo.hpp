// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Proximal policy optimisation (Schulman et al., 2017), with the details that Huang et al., 2022, collect.
#pragma once

#include <optional>

#include "manta/rl/algorithms/on_policy.hpp"
#include "manta/rl/algorithms/option_fields.hpp"

namespace manta::rl {

struct ppo_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 8;            ///< environments of all workers together
  int fragment = 256;              ///< steps of each environment in an iteration
  double rate = 3e-4;              ///< learning rate of Adam
  std::uint64_t anneal_steps = 0;  ///< within them the rate falls in a line to 0; 0: the rate stays
  nn::schedule schedule = {};      ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  double lambda = 0.95;             ///< lambda of generalised advantage estimation
  double clip = 0.2;                ///< how far the probability of an action may move from the one that acted
  nn::schedule clip_schedule = {};  ///< its factor at each step of all environments
  double value_clip = 0;            ///< how far a value may move from the one before the epochs; 0: any way
  int epochs = 10;                  ///< passes over an iteration's steps
  int batch = 64;                   ///< steps of a minibatch; a policy with a memory takes whole fragments
  /// The weight of the entropy in the loss. Nothing: 0.003 for choices, and 0 where an action has numbers of a box,
  /// since the entropy of these has no upper bound.
  std::optional<double> entropy = {};
  double value = 0.5;                  ///< the weight of the value's loss
  double clip_norm = 0.5;              ///< the largest norm of all gradients together; 0: any
  double target_kl = 0;                ///< the epochs end when the policies differ by one and a half of it; 0: never
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the deviation of discounted returns of some 50 000 steps past
  model_options model = {};
  own_collection collection = {};  ///< changes steps before they are learnt from: rl::own<my_class>(..)

  /// The policy to begin with, such as another training's, instead of random numbers: its network
  /// has to be the same as the actor's. The critic begins anew.
  trained_policy begin_with = {};

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_policy_options(archive, *this);
    archive(CEREAL_NVP(clip), CEREAL_NVP(value_clip), CEREAL_NVP(epochs), CEREAL_NVP(batch), CEREAL_NVP(target_kl));
  }
};

namespace detail {

/// PPO's rule.
class ppo_learner : public policy_learner {
 public:
  /// more: see learner_options::more_for_critic.
  MANTA_DECL ppo_learner(const any_environment& e, const ppo_options& o, int more = 0);
  MANTA_DECL void learn(const fragment& all, report& r) override;

 private:
  struct figures {
    double policy_loss = 0, value_loss = 0, entropy = 0, kl = 0, clipped = 0, norm = 0;
    int batches = 0;
  };
  void learn_epoch(const fragment& all, std::span<const int> order, figures& sums);
  void learn_batch(figures& sums);
  double learn_values();

  ppo_options options_;
  double entropy_;  ///< its weight
  fragment batch_;
  std::vector<int> columns_;
  nn::matrix<float> allowed_, outputs_gradient_, value_gradient_;
};

}  // namespace detail

class ppo final : public on_policy {
 public:
  using options = ppo_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit ppo(const any_environment& e, const ppo_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/ppo.ipp"
#endif
