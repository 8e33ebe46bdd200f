// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of dynamics_ensemble.hpp. A network's outputs for a column: means of the differences of features and
// of the reward, then the logarithms of their variances before bounds, then the logit of the end. Means and variances
// are in units of the deviations of what was seen.
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/models/dynamics_ensemble.hpp"

namespace manta::rl {

namespace detail {

/// Logarithms of variances are kept between bounds, by a function of the networks' outputs whose slope is
/// 1 in the middle.
struct log_variance {
  static constexpr float middle = -4, half = 5;
  /// The tanh below it, of which the slope is made too.
  static auto inner(const auto& outputs) { return ((outputs - middle) / half).tanh(); }
  static auto of(const auto& inner) { return middle + half * inner; }
};

}  // namespace detail

MANTA_DECL dynamics_ensemble::dynamics_ensemble(const space& observations, int actions, const ensemble_options& o)
    : features_(observations.features()), rate_(o.rate), inputs_(features_), targets_(features_ + 1) {
  for (int i = 0; i < o.models; ++i) {
    nets_.push_back(detail::make_network(observations, o.model,
                                         {.outputs = 2 * (features_ + 1) + 1, .last = 0.1, .more_inputs = actions},
                                         base::mix(o.seed + static_cast<std::uint64_t>(i))));
    optimizers_.push_back(nn::adam({.rate = o.rate, .weight_decay = o.weight_decay}));
  }
  if (const box* const b = observations.as_box(); b != nullptr && !b->is_soft) {
    low_ = b->low;
    high_ = b->high;
  }
}

inline const nn::matrix<float>& dynamics_ensemble::joined(const nn::matrix<float>& observations,
                                                          const nn::matrix<float>& actions) {
  normaliser(inputs_).apply(observations, filtered_);
  x_.resize(observations.rows() + actions.rows(), observations.cols());
  x_.topRows(observations.rows()) = filtered_;
  x_.bottomRows(actions.rows()) = actions;
  return x_;
}

inline nn::matrix<float> dynamics_ensemble::targets_of(const transitions& batch) {
  nn::matrix<float> targets(features_ + 1, batch.observations.cols());
  targets.topRows(features_) = batch.next - batch.observations;
  targets.row(features_) = Eigen::Map<const Eigen::RowVectorXf>(batch.rewards.data(), targets.cols());
  for (Eigen::Index k = 0; k < targets.cols(); ++k) {
    inputs_.add(batch.observations.col(k).data());
    targets_.add(targets.col(k).data());
  }
  for (Eigen::Index i = 0; i <= features_; ++i) {
    const auto j = static_cast<std::size_t>(i);
    targets.row(i) =
        (targets.row(i).array() - static_cast<float>(targets_.mean(j))) / static_cast<float>(targets_.deviation(j));
  }
  return targets;
}

MANTA_DECL void dynamics_ensemble::learn(const transitions& batch, double part_of_rate,
                                         std::map<std::string, double>& figures) {
  const nn::matrix<float> targets = targets_of(batch);
  const auto count = static_cast<Eigen::Index>(batch.size()), n = static_cast<Eigen::Index>(nets_.size());
  loss_of_models sums;
  for (Eigen::Index m = 0; m < n; ++m) {
    const Eigen::Index first = count * m / n, last = count * (m + 1) / n;
    if (last == first) continue;
    nn::optimizer& o = optimizers_[static_cast<std::size_t>(m)];
    o.rate(rate_ * part_of_rate);
    learn(static_cast<std::size_t>(m), first, last - first, batch, targets, sums);
    o.rate(rate_);  // so that checkpoints have the whole one
  }
  const auto numbers = static_cast<double>(count);
  detail::require_finite("the loss of the models is", sums.all);
  figures["model_loss"] += sums.all / numbers;
  figures["model_error"] += std::sqrt(sums.squares / numbers / static_cast<double>(targets.rows()));
}

inline void dynamics_ensemble::learn(std::size_t model, Eigen::Index first, Eigen::Index count,
                                     const transitions& batch, const nn::matrix<float>& targets, loss_of_models& sums) {
  nn::network<float>& net = nets_[model];
  const nn::matrix<float>& outputs =
      net.forward(joined(batch.observations.middleCols(first, count), batch.actions.middleCols(first, count)));
  const Eigen::Index rows = targets.rows();
  const float part = 1 / static_cast<float>(count);
  const array inner = detail::log_variance::inner(outputs.middleRows(rows, rows).array());
  const array errors = (outputs.topRows(rows) - targets.middleCols(first, count)).array();
  const array precision = (-detail::log_variance::of(inner)).exp();
  const array weighted = errors.square() * precision;
  by_outputs_.resize(outputs.rows(), count);
  // Each number counts by its own deviation (Seitzer et al., 2022): where the errors are large, the mean is learnt too.
  const array weight = part * precision.rsqrt();
  by_outputs_.topRows(rows) = (2 * weight * errors * precision).matrix();
  by_outputs_.middleRows(rows, rows) = (weight * (1 - weighted) * (1 - inner.square())).matrix();
  sums.squares += static_cast<double>(errors.square().sum());
  sums.all += static_cast<double>((weighted + detail::log_variance::of(inner)).sum());
  for (Eigen::Index k = 0; k < count; ++k) {
    const double logit = static_cast<double>(outputs(2 * rows, k)), p = 1 / (1 + std::exp(-logit));
    const bool ends = batch.discounts[static_cast<std::size_t>(first + k)] <= 0;
    by_outputs_(2 * rows, k) = static_cast<float>(p - (ends ? 1 : 0)) * part;
    sums.all += std::log1p(std::exp(-std::abs(logit))) + std::max(0., ends ? -logit : logit);
  }
  net.zero_gradients();
  net.backward(by_outputs_);
  optimizers_[model].step(net.parameters(), net.gradients());
}

MANTA_DECL void dynamics_ensemble::predict(int model, const nn::matrix<float>& observations,
                                           const nn::matrix<float>& actions,
                                           const Eigen::Ref<const nn::matrix<float>>& noise, model_prediction& to) {
  const nn::matrix<float>& outputs = nets_[static_cast<std::size_t>(model)].forward(joined(observations, actions));
  const Eigen::Index rows = features_ + 1;
  const auto deviations =
      detail::log_variance::of(detail::log_variance::inner(outputs.middleRows(rows, features_).array()));
  to.next = (deviations / 2).exp().matrix();
  if (noise.cols() == 1) {
    to.next.array().colwise() *= noise.col(0).array();
  } else {
    to.next.array() *= noise.array();
  }
  to.next += outputs.topRows(features_);
  for (Eigen::Index i = 0; i < features_; ++i) {
    const auto j = static_cast<std::size_t>(i);
    auto its = to.next.row(i).array();
    its = observations.row(i).array() + static_cast<float>(targets_.mean(j)) +
          static_cast<float>(targets_.deviation(j)) * its;
    if (!low_.empty()) its = its.max(low_[j]).min(high_[j]);
  }
  const auto last = static_cast<std::size_t>(features_);
  const auto numbers = [&](std::vector<float>& v) {
    v.resize(static_cast<std::size_t>(outputs.cols()));
    return Eigen::Map<Eigen::Array<float, 1, Eigen::Dynamic>>(v.data(), outputs.cols());
  };
  numbers(to.rewards) = static_cast<float>(targets_.mean(last)) +
                        static_cast<float>(targets_.deviation(last)) * outputs.row(features_).array();
  numbers(to.ends) = 1 / (1 + (-outputs.row(2 * rows).array()).exp());
}

MANTA_DECL std::vector<std::span<const float>> dynamics_ensemble::parameters() const {
  std::vector<std::span<const float>> all;
  for (const nn::network<float>& net : nets_) all.push_back(net.parameters());
  return all;
}
MANTA_DECL std::string dynamics_ensemble::describe() const {
  return base::text("{} models {}", nets_.size(), nets_.front().describe());
}

MANTA_DECL std::string dynamics_ensemble::state() const { return output::pack(*this, optimizers_); }
MANTA_DECL void dynamics_ensemble::restore(const std::string& bytes) {
  dynamics_ensemble saved;
  std::vector<nn::optimizer> optimizers;
  output::unpack(bytes, saved, optimizers);
  for (std::size_t i = 0; i < optimizers_.size(); ++i) optimizers_[i].take_moments(optimizers.at(i));
  saved.optimizers_ = std::move(optimizers_);
  *this = std::move(saved);
}

}  // namespace manta::rl
