// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is done with the steps that workers have made, before they are learnt from. A class of the program's own changes
// rewards, estimates advantages in its own way, or changes transitions:
//
//   struct upright : rl::collection {                      // a reward for an upright pole, which reports do not count
//     void steps_made(const rl::made_steps& s) const override {
//       for (std::size_t t = 0; t < s.rewards.size(); ++t) s.rewards[t] -= std::abs(s.next(2, Eigen::Index(t)));
//     }
//   };
//   rl::ppo algorithm("CartPole-v1", {.collection = rl::own<upright>()});
#pragma once

#include <span>

#include "manta/nn/module.hpp"
#include "manta/own.hpp"
#include "manta/rl/source.hpp"
#include "manta/rl/workers/transitions.hpp"

namespace manta::rl {

/// Steps of one environment in their order, a column each. Observations are unfiltered features.
struct made_steps {
  Eigen::Ref<const nn::matrix<float>> observations, actions;
  /// Observations after the actions; of an episode that ends, its last state.
  Eigen::Ref<const nn::matrix<float>> next;
  std::span<double> rewards;  ///< rewards, which may be changed; those in reports stay
  std::span<const char> terminated, truncated;
};

/// What an estimate of advantages depends on.
struct valued_steps {
  std::span<const double> rewards;  ///< as they are learnt from: scaled
  std::span<const float> values;    ///< one more than there are steps: that of the state after the last one
  std::span<const char> terminated, truncated;
  std::span<const float> final_values;  ///< where an episode was truncated, the value of its last state
  double discount = 0, lambda = 0;
  /// The discount of each step, where they differ: a seat of a game has waited for its next turn.
  /// Empty: all are `discount`.
  std::span<const double> discounts = {};
};

/// Generalised advantage estimation (Schulman et al., 2016) of one environment's steps.
MANTA_DECL void estimate_advantages(const valued_steps& s, std::span<float> advantages);

/// Workers call it, one environment after the other, on whatever rank they are; it has no state, so that the number of
/// workers changes nothing.
class collection {
 public:
  virtual ~collection() = default;
  /// ppo, a2c, a3c and impala.
  virtual void steps_made(const made_steps&) const {}
  /// ppo, a2c and a3c: writes an advantage for each step. Generalised advantage estimation unless a class has its own.
  MANTA_DECL virtual void estimate(const valued_steps& s, std::span<float> advantages) const;
  /// dqn, sac and td3: transitions whose rewards are complete, on their way to the memory. May change, add and
  /// leave out some.
  virtual void transitions_made(transitions&) const {}
};

/// A class of the program's own that derives from collection.
using own_collection = own_class<collection>;

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/workers/collection.ipp"
#endif
