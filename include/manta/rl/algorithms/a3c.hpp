// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Asynchronous advantage actor-critic (Mnih et al., 2016): each worker computes gradients on a fragment of its own,
// with the weights that it has, and the learner applies them as they come. Each of several workers has its next call
// while the learner takes its last gradient. The staleness of a gradient is the number of steps that the learner has
// taken since its weights. The result depends on who comes first: only with one worker does
// the same seed give the same bits, which are those of a2c.
#pragma once

#include <optional>

#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/learning/actor_critic.hpp"
#include "manta/rl/learning/algorithm.hpp"

namespace manta::rl {

struct a3c_options {
  int workers = 2;  ///< actors that act and compute gradients, on any ranks
  std::uint64_t seed = 0;
  int environments = 16;  ///< environments of all workers together
  int fragment = 16;      ///< steps of each environment for a gradient
  int updates = 16;       ///< steps of the learner in an iteration
  int in_flight = 2;      ///< calls that each of several workers has at a time: it waits for no learner
  int max_staleness = 0;  ///< a gradient that is staler is dropped, and the report's `dropped` counts it; 0: none is
  double rate = 1e-3;     ///< learning rate of RMSProp, whose moments all workers share
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
    archive(CEREAL_NVP(updates), CEREAL_NVP(in_flight), CEREAL_NVP(max_staleness));
  }
};

namespace detail {
class a3c_crew;
}

/// Reports have `staleness`, the mean of the gradients that came, `max_staleness` and `dropped` of the iteration.
/// Workers act on between two calls of train: each finishes one fragment, which the next call learns from.
class a3c final : public algorithm {
 public:
  using options = a3c_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit a3c(const any_environment& e, const a3c_options& o = {});
  MANTA_DECL ~a3c() override;

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;
  [[nodiscard]] const learner& learned() const override { return learner_; }

 private:
  std::unique_ptr<detail::a3c_crew> start_crew() const;
  /// An iteration of the learner.
  void take_steps(report& r);
  /// Takes the learner's step with a worker's gradients, and returns their norm.
  double apply(const std::vector<float>& from);

  a3c_options options_;
  policy_learner learner_;
  std::uint64_t version_ = 0;  ///< steps of the learner
  std::unique_ptr<detail::a3c_crew> crew_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/a3c.ipp"
#endif
