// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a policy would be worth, from episodes that another one has played: without an environment.
//
//   rl::value_estimate v = rl::estimate(data, better.trained(), {.by = rl::doubly_robust});
//   std::cout << v << '\n';           // value 87.3 +- 1.2 from 200 episodes, whose own value is 61.5
//
// The estimators compare how probable each recorded action is under both policies. They are right in the mean where
// the policy that acted tried all that the other one does. Importance sampling varies the more, the longer episodes
// are; weights that add up to one vary less and are a little wrong with few episodes; the doubly robust one learns the
// values of actions from the data besides, and varies least where it has learnt them well.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

/// importance_sampling, weighted_importance_sampling: by the decisions so far (Precup et al., 2000). doubly_robust:
/// Jiang and Li, 2016, with values by fitted Q evaluation; for actions that are rl::discrete.
enum estimator { importance_sampling, weighted_importance_sampling, doubly_robust };

struct estimate_options {
  estimator by = weighted_importance_sampling;
  /// Which policy is estimated: that of drawn actions, as in training; else that of the best ones, as in evaluate.
  bool explore = false;
  double discount = 0.99;
  /// The policy whose drawn actions the data has, such as a rl::bc of the data, where that does not
  /// say how probable they were.
  trained_policy behaviour = {};

  // What doubly_robust learns values by:
  std::uint64_t seed = 0;
  int passes = 50;     ///< over the data
  int batch = 256;     ///< steps of the data in a step of the learner
  double rate = 1e-3;  ///< learning rate of Adam
  model_options model = {};
};

struct value_estimate {
  double value = 0;       ///< value of the policy: the mean discounted return from the first states of the episodes
  double error = 0;       ///< the deviation of the estimate, by the bootstrap over episodes (Efron, 1979)
  double data_value = 0;  ///< value of the policy that acted: the mean discounted return of the episodes
  /// For how many episodes of the policy itself the data stands: the fewer, the less is known.
  double effective_episodes = 0;
  std::uint64_t episodes = 0;
};
/// "value 87.3 +- 1.2 from 200 episodes, as good as 41 of its own; the data's is 61.5".
MANTA_DECL std::ostream& operator<<(std::ostream& out, const value_estimate& v);

/// Waits for nobody, computes here. The same seed gives the same numbers. Throws manta::error if the policy or the data
/// has no probabilities of actions, with episode and step where the data lacks one, and if the spaces differ.
MANTA_DECL value_estimate estimate(const episodes& data, const trained_policy& p, const estimate_options& o = {});

/// An episode as estimators see it.
struct weighed_episode {
  std::vector<double> rewards;
  std::vector<double>
      log_ratios;  ///< logarithms of the probability of each action under the policy over that by which it was drawn
  std::vector<double> action_values = {};  ///< doubly_robust: of the recorded actions
  std::vector<double> state_values = {};   ///< likewise, of the states; one more than steps, 0 behind a last state
};
/// The estimate itself, for a program that has probabilities and values of its own. Throws manta::error if it is not
/// finite, or if there are no episodes.
MANTA_DECL double estimated_value(std::span<const weighed_episode> all, estimator by, double discount);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/estimate.ipp"
#endif
