// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/rl/base/require.hpp"
#include "manta/rl/learning/actor_critic.hpp"

namespace manta::rl {

MANTA_DECL void v_trace(const v_trace_steps& s, const v_trace_options& o, std::span<float> targets,
                        std::span<float> advantages) {
  // Backwards: `above` is the target's difference from the value one step later, within the episode.
  double above = 0;
  for (std::size_t t = s.rewards.size(); t-- > 0;) {
    const bool ends = s.terminated[t] || s.truncated[t];
    const double ratio = std::exp(static_cast<double>(s.log_ratios[t]));
    const double rho = std::min(o.rho, ratio), trace = o.lambda * std::min(o.c, ratio);
    const double value = static_cast<double>(s.values[t]);
    const double after =
        s.terminated[t] ? 0 : static_cast<double>(s.truncated[t] ? s.final_values[t] : s.values[t + 1]);
    if (ends) above = 0;
    advantages[t] = static_cast<float>(rho * (s.rewards[t] + o.discount * (after + above) - value));
    above = rho * (s.rewards[t] + o.discount * after - value) + o.discount * trace * above;
    targets[t] = static_cast<float>(value + above);
  }
}

MANTA_DECL void loss_sums::add(const loss_sums& other) {
  policy += other.policy;
  value += other.value;
  entropy += other.entropy;
  steps += other.steps;
}

MANTA_DECL void loss_sums::write(std::map<std::string, double>& figures) const {
  const double n = static_cast<double>(std::max<std::uint64_t>(1, steps));
  figures["policy_loss"] = policy / n;
  figures["value_loss"] = value / n;
  figures["entropy"] = entropy / n;
}

MANTA_DECL loss_sums add_gradients(policy& p, const distribution& d, const lesson& l, const loss_weights& w,
                                   std::span<float> spread_gradients) {
  const Eigen::Index count = l.actions.cols();
  const float part = static_cast<float>(1 / l.divisor);
  const float* const spread = p.spread().data();
  nn::matrix<float> by_outputs = nn::matrix<float>::Zero(l.outputs.rows(), l.outputs.cols());
  nn::matrix<float> by_values = nn::matrix<float>::Zero(1, l.values.cols());
  loss_sums sums{.steps = static_cast<std::uint64_t>(count)};
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float* const o = l.outputs.col(i).data();
    const float* const action = l.actions.col(i).data();
    const float difference = l.values(0, i) - l.returns[k];
    sums.policy -= static_cast<double>(l.advantages[k] * d.log_probability(o, spread, action));
    sums.value += static_cast<double>(difference * difference);
    sums.entropy += static_cast<double>(d.entropy(o, spread));
    d.add_gradient(o, spread, action, {-l.advantages[k] * part, -static_cast<float>(w.entropy) * part},
                   by_outputs.col(i).data(), spread_gradients.data());
    by_values(0, i) = static_cast<float>(2 * w.value) * difference * part;
  }
  detail::require_finite("the loss is", sums.policy + sums.value);
  p.actor().backward(by_outputs);
  p.critic().backward(by_values);
  return sums;
}

MANTA_DECL loss_sums add_gradients(policy& p, const distribution& d, const fragment& f, const loss_weights& w,
                                   std::span<float> spread_gradients) {
  const auto count = static_cast<double>(f.observations.cols());
  nn::matrix<float> kept;
  if (!p.remembers()) {
    const nn::matrix<float>& outputs = detail::allowed_outputs(p.actor().forward(f.observations), f.masks, kept);
    const nn::matrix<float>& values = p.critic().forward(f.observations);
    return add_gradients(p, d, {outputs, values, f.actions, f.advantages, f.returns, count}, w, spread_gradients);
  }
  const auto environments = static_cast<int>(f.actor_states.cols());
  const int steps = static_cast<int>(f.observations.cols()) / environments;
  std::vector<int> columns;
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < environments; ++i) columns.push_back(i * steps + t);
  }
  fragment all;
  choose(f, columns, all);
  const nn::matrix<float>& outputs =
      detail::allowed_outputs(p.actor().forward(all.observations, all.actor_states, all.begins), all.masks, kept);
  const nn::matrix<float>& values = p.critic().forward(all.observations, all.critic_states, all.begins);
  return add_gradients(p, d, {outputs, values, all.actions, all.advantages, all.returns, count}, w, spread_gradients);
}

}  // namespace manta::rl
