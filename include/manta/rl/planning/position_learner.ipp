// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/learning/policy_learner.hpp"
#include "manta/rl/planning/position_learner.hpp"

namespace manta::rl {

MANTA_DECL position_learner::position_learner(const std::string& name, const any_environment& e,
                                              const position_learner_options& o)
    : learner(e),
      options_(o),
      net_(detail::make_network(e.observations(), o.model,
                                {.outputs = e.actions().as_discrete()->n + 1, .last = 0.01, .relu = true}, o.seed)),
      optimizer_(nn::adam({.rate = o.rate, .weight_decay = o.weight_decay})) {
  detail::refuse_memory(net_, o.model, name);
  detail::refuse_distribution(o.model, name);
  if (o.begin_with) net_ = detail::network_to_begin_with(o.begin_with.acting(), description());
}

MANTA_DECL acting_policy position_learner::acting() const {
  return {environment_,
          net_,
          moments(environment_.observations().features()),
          {.by = action_choice::drawing::distribution}};
}

namespace detail {
/// Writes the gradient of one position's loss by the network's outputs, and adds to the sums of both losses.
inline void add_position(const positions& batch, Eigen::Index i, const nn::matrix<float>& outputs,
                         nn::matrix<float>& by_outputs, std::array<double, 3>& sums) {
  const Eigen::Index n = batch.policies.rows();
  float highest = -1e30f;
  double sum = 0;
  for (Eigen::Index a = 0; a < n; ++a) {
    if (batch.masks(a, i) != 0) highest = std::max(highest, outputs(a, i));
  }
  for (Eigen::Index a = 0; a < n; ++a) {
    if (batch.masks(a, i) != 0) sum += std::exp(static_cast<double>(outputs(a, i) - highest));
  }
  for (Eigen::Index a = 0; a < n; ++a) {
    by_outputs(a, i) = 0;
    if (batch.masks(a, i) == 0) continue;
    const double log_p = static_cast<double>(outputs(a, i) - highest) - std::log(sum);
    const auto share = static_cast<double>(batch.policies(a, i));
    by_outputs(a, i) = static_cast<float>(std::exp(log_p) - share);
    sums[0] -= share * log_p;
    if (share > 0) sums[2] -= share * std::log(share);
  }
  const double value = std::tanh(static_cast<double>(outputs(n, i)));
  const double error = value - static_cast<double>(batch.values[static_cast<std::size_t>(i)]);
  by_outputs(n, i) = static_cast<float>(2 * error * (1 - value * value));
  sums[1] += error * error;
}
}  // namespace detail

MANTA_DECL void position_learner::learn(const positions& batch, std::map<std::string, double>& figures) {
  const nn::matrix<float>& outputs = net_.forward(batch.observations);
  by_outputs_.resize(outputs.rows(), outputs.cols());
  std::array<double, 3> sums{};
  for (Eigen::Index i = 0; i < outputs.cols(); ++i) detail::add_position(batch, i, outputs, by_outputs_, sums);
  const auto count = static_cast<double>(batch.size());
  detail::require_finite("the loss is", sums[0] + sums[1]);
  by_outputs_ *= static_cast<float>(1 / count);
  net_.zero_gradients();
  net_.backward(by_outputs_);
  if (options_.clip_norm > 0) nn::clip_norm(net_.gradients(), options_.clip_norm);
  optimizer_.step(net_.parameters(), net_.gradients());
  figures["policy_loss"] += sums[0] / count;
  figures["value_loss"] += sums[1] / count;
  figures["search_entropy"] += sums[2] / count;
}

MANTA_DECL std::string position_learner::state() const { return output::pack(net_, optimizer_); }
MANTA_DECL void position_learner::restore(const std::string& state) {
  nn::network<float> net;
  nn::optimizer saved;
  output::unpack(state, net, saved);
  optimizer_.take_moments(saved);
  net_ = std::move(net);
}

}  // namespace manta::rl
