// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/rl/algorithms/ppo.hpp"

namespace manta::rl {

namespace detail {
inline learner_options told_by_ppo(const ppo_options& o, int more) {
  learner_options told = told_by(o, remembers);
  told.more_for_critic = more;
  return told;
}
}  // namespace detail

MANTA_DECL detail::ppo_learner::ppo_learner(const any_environment& e, const ppo_options& o, int more)
    : policy_learner("ppo", e, told_by_ppo(o, more), nn::adam({.rate = o.rate, .epsilon = 1e-5})),
      options_(o),
      entropy_(entropy_weight(o.entropy, *distribution_, 0.003)) {
  require_sense(o);
  require_one(".batch", o.batch, " step");
  require_one(".epochs", o.epochs);
}

MANTA_DECL ppo::ppo(const any_environment& e, const ppo_options& o)
    : on_policy(std::make_unique<detail::ppo_learner>(e, o)) {}

namespace detail {

MANTA_DECL void ppo_learner::learn(const fragment& all, report& r) {
  // What is shuffled: steps, or, where they follow from those before, the environments.
  const auto size = static_cast<std::size_t>(policy_.remembers() ? told_.environments : all.observations.cols());
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  figures sums;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    random numbers(told_.seed,
                   lessons() * static_cast<std::uint64_t>(options_.epochs) + static_cast<std::uint64_t>(epoch), 3);
    for (std::size_t i = size; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(numbers.index(static_cast<int>(i)))]);
    const double kl_before = sums.kl;
    const int batches_before = sums.batches;
    learn_epoch(all, order, sums);
    if (options_.target_kl > 0 && (sums.kl - kl_before) / (sums.batches - batches_before) > 1.5 * options_.target_kl)
      break;
  }
  const double n = sums.batches;
  r.learner = {{"policy_loss", sums.policy_loss / n}, {"value_loss", sums.value_loss / n},
               {"entropy", sums.entropy / n},         {"kl", sums.kl / n},
               {"clipped", sums.clipped / n},         {"gradient_norm", sums.norm / n}};
}

inline void ppo_learner::learn_epoch(const fragment& all, std::span<const int> order, figures& sums) {
  const int steps = policy_.remembers() ? options_.fragment : 1;  // that a number in order stands for
  const std::size_t size = order.size();
  const std::size_t batch = std::min(size, static_cast<std::size_t>(std::max(1, options_.batch / steps)));
  // The last minibatch takes what is left, so that none is tiny.
  for (std::size_t at = 0; at < size;) {
    const std::size_t count = size - at < 2 * batch ? size - at : batch;
    columns_.clear();
    for (int t = 0; t < steps; ++t) {
      for (int k : order.subspan(at, count)) columns_.push_back(k * steps + t);
    }
    choose(all, columns_, batch_);
    learn_batch(sums);
    at += count;
  }
}

/// Gradients of the critic for the batch. Returns the sum of its losses.
inline double ppo_learner::learn_values() {
  const nn::matrix<float>& values = policy_.critic().forward(batch_.observations, batch_.critic_states, batch_.begins);
  const Eigen::Index count = values.cols();
  value_gradient_.resize(1, count);
  double loss = 0;
  const float most = static_cast<float>(options_.value_clip);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    float d = values(0, i) - batch_.returns[k];
    bool counts = true;
    if (most > 0) {  // the larger of both losses, of which the clipped one does not move
      const float before = batch_.returns[k] - batch_.advantages[k];
      const float near = before + std::clamp(values(0, i) - before, -most, most) - batch_.returns[k];
      counts = std::abs(d) >= std::abs(near) || near == d;
      if (!counts) d = near;
    }
    loss += static_cast<double>(d * d);
    value_gradient_(0, i) = counts ? static_cast<float>(2 * options_.value) * d / static_cast<float>(count) : 0;
  }
  policy_.critic().backward(value_gradient_);
  return loss;
}

inline void ppo_learner::learn_batch(figures& sums) {
  const Eigen::Index count = batch_.observations.cols();
  const auto n = static_cast<float>(count);
  double mean = 0, squares = 0;
  for (float advantage : batch_.advantages) {
    const double a = static_cast<double>(advantage);
    mean += a;
    squares += a * a;
  }
  mean /= static_cast<double>(count);
  // Where rewards have deviation 1, advantages that hardly differ are errors of the critic, which are not made large.
  const double least = options_.normalise_rewards ? 0.3 : 1e-8;
  const double deviation =
      std::max(least, std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean * mean)));

  zero_gradients();
  const float* const spread = policy_.spread().data();
  const nn::matrix<float>& outputs =
      allowed_outputs(policy_.actor().forward(read_by_actor(batch_.observations), batch_.actor_states, batch_.begins),
                      batch_.masks, allowed_);
  outputs_gradient_.setZero(outputs.rows(), count);
  double policy_loss = 0, entropy = 0, kl = 0, clipped = 0;
  const float range = static_cast<float>(options_.clip * options_.clip_schedule(static_cast<double>(steps())));
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float* const o = outputs.col(i).data();
    const float* const action = batch_.actions.col(i).data();
    const float advantage = static_cast<float>((static_cast<double>(batch_.advantages[k]) - mean) / deviation);
    const float difference = distribution_->log_probability(o, spread, action) - batch_.log_probabilities[k];
    const float ratio = std::exp(difference);
    const bool is_clipped = (advantage > 0 && ratio > 1 + range) || (advantage < 0 && ratio < 1 - range);
    policy_loss -=
        static_cast<double>(std::min(ratio * advantage, std::clamp(ratio, 1 - range, 1 + range) * advantage));
    entropy += static_cast<double>(distribution_->entropy(o, spread));
    kl += static_cast<double>(ratio - 1 - difference);
    clipped += is_clipped;
    distribution_->add_gradient(o, spread, action,
                                {is_clipped ? 0 : -advantage * ratio / n, -static_cast<float>(entropy_) / n},
                                outputs_gradient_.col(i).data(), spread_gradients_.data());
  }
  policy_.actor().backward(outputs_gradient_);
  const double value_loss = learn_values();
  require_finite("the loss is", policy_loss + value_loss);
  const double norm = step(options_.clip_norm);
  sums.policy_loss += policy_loss / static_cast<double>(count);
  sums.value_loss += value_loss / static_cast<double>(count);
  sums.entropy += entropy / static_cast<double>(count);
  sums.kl += kl / static_cast<double>(count);
  sums.clipped += clipped / static_cast<double>(count);
  sums.norm += norm;
  ++sums.batches;
}

}  // namespace detail

}  // namespace manta::rl
