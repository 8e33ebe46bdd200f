// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "manta/base/hash.hpp"
#include "manta/nn/random.hpp"
#include "manta/rl/evolution/evolution_worker.hpp"

namespace manta::rl {

MANTA_DECL double evolution_rule::move(std::span<float> parameters, std::vector<float>& sum) {
  const float s = static_cast<float>(scale), d = static_cast<float>(decay);
  double norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = s * sum[i] + d * parameters[i];
    norm += static_cast<double>(sum[i] * sum[i]);
  }
  optimizer.step(parameters, std::span<const float>(sum));
  return std::sqrt(norm);
}

namespace detail {

/// Two numbers of each 64 random bits (Box, Muller, 1958). All are computed in whole packets of the widest vector unit,
/// since what is left of a packet could be rounded in another way.
MANTA_DECL void draw_change(std::uint64_t seed, std::uint64_t iteration, int pair, std::span<float> to) {
  constexpr std::size_t packet = 16;
  const std::size_t half = (to.size() + 2 * packet - 1) / (2 * packet) * packet;
  const nn::random numbers(seed, iteration, 100 + static_cast<std::uint64_t>(pair));
  Eigen::ArrayXf radius(static_cast<Eigen::Index>(half)), angle(radius.size());
  for (std::size_t i = 0; i < half; ++i) {
    const std::uint64_t bits = numbers.bits(i);
    const auto at = static_cast<Eigen::Index>(i);
    radius[at] = (static_cast<float>(static_cast<std::int32_t>(bits >> 33U)) + 0.5f) * 0x1p-31f;  // in (0, 1]
    angle[at] = static_cast<float>(static_cast<std::int32_t>(bits)) * (std::numbers::pi_v<float> * 0x1p-31f);
  }
  radius = (-2 * radius.log()).max(0.f).sqrt();
  const Eigen::ArrayXf first = radius * angle.cos(), second = radius * angle.sin();
  const auto from_first = static_cast<std::ptrdiff_t>(std::min(half, to.size()));
  std::copy_n(first.data(), from_first, to.data());
  std::copy_n(second.data(), std::ssize(to) - from_first, to.data() + from_first);
}

MANTA_DECL std::vector<float> sum_changes(std::uint64_t seed, std::uint64_t iteration, int first,
                                          const std::vector<float>& weights, std::size_t parameters) {
  std::vector<float> sum(parameters), change(parameters);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    draw_change(seed, iteration, first + static_cast<int>(k), change);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * change[i];
  }
  return sum;
}
MANTA_DECL std::uint64_t hash_of(std::span<const float> parameters) {
  return base::hash_bytes(parameters.data(), parameters.size_bytes());
}

MANTA_DECL evolution_worker::evolution_worker(const evolution_setting& s)
    : setting_(s),
      distribution_(make_distribution(s.environment.actions(), s.own)),
      environment_(s.environment, s.seed, 0, 1),
      sent_(s.environment.actions().size(), 1) {
  environment_.play_once();
}

MANTA_DECL evolution_trials evolution_worker::try_with(const evolution_policy& p, int first, int count) {
  policy_ = p;
  return tried(first, count);
}

MANTA_DECL evolution_trials evolution_worker::try_after(const evolution_update& u, int first, int count) {
  if (policy_.iteration + 1 == u.iteration) {
    std::vector<float> sum = sum_changes(setting_.seed, policy_.iteration, 0, u.weights, policy_.parameters.size());
    policy_.rule.move(policy_.parameters, sum);
    policy_.filter = u.filter;
    policy_.iteration = u.iteration;
  }
  // Processors of different kinds may round in different ways: then whole policies travel.
  if (policy_.iteration != u.iteration || hash_of(policy_.parameters) != u.hash) return {};
  return tried(first, count);
}

MANTA_DECL std::vector<float> evolution_worker::sum(std::uint64_t iteration, int first,
                                                    const std::vector<float>& weights) {
  return sum_changes(setting_.seed, iteration, first, weights, setting_.net.parameters().size());
}

inline evolution_trials evolution_worker::tried(int first, int count) {
  evolution_trials out{.is_there = true};
  const std::span<float> moved = setting_.net.parameters();
  const float deviation = static_cast<float>(setting_.deviation);
  std::vector<float> change(moved.size());
  for (int pair = first; pair < first + count; ++pair) {
    draw_change(setting_.seed, policy_.iteration, pair, change);
    const std::uint64_t number = policy_.iteration + static_cast<std::uint64_t>(pair);
    const bool gives = number % static_cast<std::uint64_t>(setting_.moments_every) == 0;
    if (gives) out.seen.emplace_back(setting_.environment.observations().features());
    for (const float side : {deviation, -deviation}) {
      for (std::size_t i = 0; i < change.size(); ++i) moved[i] = policy_.parameters[i] + side * change[i];
      const episode ended = play(pair, gives ? &out.seen.back() : nullptr);
      out.returns.push_back(ended.total);
      out.lengths.push_back(static_cast<std::uint32_t>(ended.length));
    }
  }
  return out;
}

inline episode evolution_worker::play(int pair, moments* seen) {
  constexpr int longest = 100'000;  // steps, where no limit is given
  // Forwards and backwards from the same state, so that they differ by less noise.
  environment_.begin_episode(0, static_cast<std::uint64_t>(pair), policy_.iteration);
  for (int step = 0; !environment_.is_over(0); ++step) {
    if (step == longest && setting_.environment.time_limit() == 0) environment_.fail_endless(longest);
    if (seen != nullptr) seen->add(environment_.observations().data());
    policy_.filter.apply(environment_.observations(), filtered_);
    const nn::matrix<float>& outputs = setting_.net.forward(filtered_);
    environment_.require_finite(outputs);
    distribution_->best_for_environment(allowed_outputs(outputs, environment_.masks(), allowed_).data(), sent_.data());
    environment_.step(sent_);
  }
  return environment_.take_episodes().front();
}

}  // namespace detail

}  // namespace manta::rl
