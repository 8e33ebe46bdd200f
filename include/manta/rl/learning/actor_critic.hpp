// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The loss of actor-critic methods (Mnih et al., 2016) and the targets that correct for a policy that lags behind,
// V-trace (Espeholt et al., 2018). A2C, A3C and IMPALA share them.
#pragma once

#include <span>

#include "manta/rl/policies/policy.hpp"
#include "manta/rl/workers/worker.hpp"

namespace manta::rl {

/// Bounds of V-trace's weights, and what discounts.
struct v_trace_options {
  double discount = 0.99;
  double lambda = 1;  ///< multiplies c
  double rho = 1;     ///< the bound of the weights of differences: which policy the values are of
  double c = 1;       ///< the bound of the weights of traces: how far differences reach
};

/// One environment's steps, in order. values: one more than steps, the last one that of the state after them.
/// final_values: where an episode was truncated, the value of its last state. log_ratios: logarithms of the learner's
/// probability of the action over that of the policy that acted.
struct v_trace_steps {
  std::span<const double> rewards;
  std::span<const float> values;
  std::span<const char> terminated, truncated;
  std::span<const float> final_values;
  std::span<const float> log_ratios;
};

/// Writes V-trace's targets of the values and the advantages of the policy's gradient, which contain the weights rho.
/// With equal policies and lambda 1 the targets are the returns of n steps.
MANTA_DECL void v_trace(const v_trace_steps& s, const v_trace_options& o, std::span<float> targets,
                        std::span<float> advantages);

/// How much the parts of the loss count, beside the policy's.
struct loss_weights {
  double value = 0.5, entropy = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value, entropy);
  }
};

/// Sums over steps.
struct loss_sums {
  double policy = 0, value = 0, entropy = 0;
  std::uint64_t steps = 0;
  MANTA_DECL void add(const loss_sums& other);
  /// Means, by the names that reports have.
  MANTA_DECL void write(std::map<std::string, double>& figures) const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(policy, value, entropy, steps);
  }
};

/// Steps to learn from. `outputs` and `values` are those of the networks' last forward passes for these steps, with
/// what is not allowed forbidden.
struct lesson {
  const nn::matrix<float>&outputs, &values, &actions;
  std::span<const float> advantages, returns;
  double divisor;  ///< divisor of the sums over the steps: the number of all steps that one update learns from
};

/// Adds the gradients of the sum over all steps of - advantage log p(action) + w.value (V - return)^2 - w.entropy H,
/// divided by the lesson's divisor, to those of the networks and of the spread. Throws manta::error if the loss is not
/// finite; nothing was learnt then.
MANTA_DECL loss_sums add_gradients(policy& p, const distribution& d, const lesson& l, const loss_weights& w,
                                   std::span<float> spread_gradients);

/// Adds the gradients of a fragment, divided by the number of its steps, with the forward passes.
MANTA_DECL loss_sums add_gradients(policy& p, const distribution& d, const fragment& f, const loss_weights& w,
                                   std::span<float> spread_gradients);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/learning/actor_critic.ipp"
#endif
