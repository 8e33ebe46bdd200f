// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/offline/action_probability.hpp"
#include "manta/rl/offline/imitation_worker.hpp"

namespace manta::rl::detail {

/// Throws unless the distribution gives the environment, for the action that would be kept, the one that it took.
inline void require_inverse(const distribution& d, const own_distribution& own, const float* kept, const float* taken) {
  std::vector<float> given(static_cast<std::size_t>(d.size()));
  d.to_environment(kept, given.data());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (std::abs(given[i] - taken[i]) <= 1e-4f * std::max(1.f, std::abs(taken[i]))) continue;
    throw error(
        base::text("manta: rl: the distribution {} gives the environment {} for an action that is kept as {}; to "
                   "learn from files, it has to keep choices as numbers from 0, and numbers of a box in units of "
                   "half the distance of its bounds",
                   own.name(), text_of(given), text_of({kept, given.size()})));
  }
}

MANTA_DECL imitated_steps steps_to_imitate(const episodes& data, const own_distribution& own) {
  const any_environment& e = data.environment();
  const auto d = make_distribution(e, own);
  const auto count = static_cast<Eigen::Index>(data.steps());
  imitated_steps all;
  all.observations.resize(e.observations().features(), count);
  all.actions.resize(d->size(), count);
  all.masks.resize(e.mask_size(), count);
  Eigen::Index at = 0;
  for (const recorded_episode& r : data) {
    const auto steps = static_cast<Eigen::Index>(r.steps());
    all.observations.middleCols(at, steps) = features_of(e.observations(), r.observations).leftCols(steps);
    if (all.masks.rows() > 0) all.masks.middleCols(at, steps) = r.masks;
    for (Eigen::Index t = 0; t < steps; ++t) {
      float* const kept = all.actions.col(at + t).data();
      keep_action(e.actions(), r.actions.col(t).data(), kept);
      if (own) require_inverse(*d, own, kept, r.actions.col(t).data());
    }
    at += steps;
  }
  return all;
}

MANTA_DECL imitation_worker::imitation_worker(const any_environment& e, const model_options& m,
                                              const imitation_rule& rule, const imitated_steps& steps)
    : rule_(rule),
      steps_(std::make_shared<const imitated_steps>(steps)),
      policy_(e.observations(), e.actions(), m, 0),
      distribution_(make_distribution(e, m.distribution)) {}

inline void imitation_worker::choose(const std::vector<int>& columns) {
  const auto count = std::ssize(columns);
  raw_.resize(steps_->observations.rows(), count);
  actions_.resize(steps_->actions.rows(), count);
  masks_.resize(steps_->masks.rows(), count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index from = columns[static_cast<std::size_t>(i)];
    raw_.col(i) = steps_->observations.col(from);
    actions_.col(i) = steps_->actions.col(from);
    if (masks_.rows() > 0) masks_.col(i) = steps_->masks.col(from);
  }
  filter_.apply(raw_, observations_);
}

inline std::vector<float> imitation_worker::learn_values(const imitation_piece& p, imitation_gradient& g) {
  std::vector<float> weights(p.columns.size(), 1.f);
  if (p.returns.empty()) return weights;
  const nn::matrix<float>& values = policy_.critic().forward(observations_);
  by_values_.resize(1, values.cols());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const double advantage = static_cast<double>(p.returns[k] - values(0, i));
    weights[k] = static_cast<float>(std::min(rule_.most, std::exp(rule_.beta * advantage / p.scale)));
    by_values_(0, i) = static_cast<float>(-2 * rule_.value * advantage / p.divisor);
    g.value_loss += advantage * advantage;
    g.squared_advantage += advantage * advantage;
  }
  policy_.critic().backward(by_values_);
  return weights;
}

inline imitation_gradient imitation_worker::gradient(const imitation_piece& p) {
  imitation_gradient g;
  choose(p.columns);
  policy_.actor().zero_gradients();
  policy_.critic().zero_gradients();
  std::vector<float> by_spread(policy_.spread().size());
  const std::vector<float> weights = learn_values(p, g);
  const nn::matrix<float>& outputs = allowed_outputs(policy_.actor().forward(observations_), masks_, allowed_);
  by_outputs_.setZero(outputs.rows(), outputs.cols());
  const float* const spread = policy_.spread().data();
  const auto part = static_cast<float>(1 / p.divisor), of_entropy = static_cast<float>(-rule_.entropy) * part;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const float* const o = outputs.col(i).data();
    const float* const action = actions_.col(i).data();
    g.log_probability += static_cast<double>(distribution_->log_probability(o, spread, action));
    g.entropy += static_cast<double>(distribution_->entropy(o, spread));
    g.weight += static_cast<double>(weights[k]);
    distribution_->add_gradient(o, spread, action, {-weights[k] * part, of_entropy}, by_outputs_.col(i).data(),
                                by_spread.data());
  }
  policy_.actor().backward(by_outputs_);
  for (const std::span<const float> from :
       {std::span<const float>(policy_.actor().gradients()), std::span<const float>(policy_.critic().gradients()),
        std::span<const float>(by_spread)})
    g.numbers.insert(g.numbers.end(), from.begin(), from.end());
  return g;
}

MANTA_DECL std::vector<imitation_gradient> imitation_worker::gradients(const policy::weights& w,
                                                                       const std::vector<imitation_piece>& pieces) {
  policy_.set(w);
  filter_.set(w.filter);
  std::vector<imitation_gradient> all;
  for (const imitation_piece& p : pieces) all.push_back(gradient(p));
  return all;
}

}  // namespace manta::rl::detail
