// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Advantage actor-critic, synchronous: all workers act for a few steps, then the learner takes one step (Mnih et al.,
// 2016, without the asynchrony). a3c.hpp is the asynchronous form.
#pragma once

#include "manta/rl/algorithms/on_policy.hpp"
#include "manta/rl/learning/actor_critic.hpp"

namespace manta::rl {

struct a2c_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 16;           ///< of all workers together
  int fragment = 16;               ///< steps of each environment for a step of the learner
  int updates = 8;                 ///< steps of the learner in an iteration
  double rate = 1e-3;              ///< of RMSProp
  std::uint64_t anneal_steps = 0;  ///< within them the rate falls in a line to 0; 0: the rate stays
  double discount = 0.99;
  double lambda = 1;                   ///< of generalised advantage estimation; 1: returns of n steps
  double entropy = 0.001;              ///< the weight of the entropy in the loss
  double value = 0.5;                  ///< the weight of the value's loss
  double clip_norm = 0.5;              ///< the largest norm of all gradients together; 0: any
  bool normalise_observations = true;  ///< to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< by the running deviation of the discounted return
  model_options model = {};
  own_collection collection = {};  ///< what is done with steps before they are learnt from: rl::own<my_class>(..)

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(environments), CEREAL_NVP(fragment), CEREAL_NVP(updates),
            CEREAL_NVP(rate), CEREAL_NVP(anneal_steps), CEREAL_NVP(discount), CEREAL_NVP(lambda), CEREAL_NVP(entropy),
            CEREAL_NVP(value), CEREAL_NVP(clip_norm), CEREAL_NVP(normalise_observations), CEREAL_NVP(normalise_rewards),
            CEREAL_NVP(model));
  }
};

class a2c final : public detail::on_policy {
 public:
  using options = a2c_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit a2c(const any_environment& e, const a2c_options& o = {});

 protected:
  MANTA_DECL void iterate(report& r) override;
  MANTA_DECL void learn(const fragment& all, report& r) override;

 private:
  a2c_options options_;
  detail::loss_sums sums_;
  double norms_ = 0;  ///< of the gradients of an iteration
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/a2c.ipp"
#endif
