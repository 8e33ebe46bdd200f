// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/evolution/ars.hpp"

namespace manta::rl {

MANTA_DECL std::vector<float> top_weights(const std::vector<double>& returns, int top) {
  std::vector<std::size_t> order(returns.size() / 2);
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto larger = [&](std::size_t pair) { return std::max(returns[2 * pair], returns[2 * pair + 1]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return larger(a) > larger(b); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(top)));
  const auto count = static_cast<double>(2 * order.size());
  double mean = 0, squares = 0;
  for (const std::size_t pair : order) mean += (returns[2 * pair] + returns[2 * pair + 1]) / count;
  for (const std::size_t pair : order)
    squares += std::pow(returns[2 * pair] - mean, 2) + std::pow(returns[2 * pair + 1] - mean, 2);
  const double deviation = std::sqrt(squares / count);
  std::vector<float> weights(returns.size() / 2);
  if (!(deviation > 0)) return weights;
  for (const std::size_t pair : order)
    weights[pair] = static_cast<float>((returns[2 * pair] - returns[2 * pair + 1]) /
                                       (deviation * static_cast<double>(order.size())));
  return weights;
}

MANTA_DECL ars::ars(const any_environment& e, const ars_options& o)
    : evolution("ars", e,
                {.workers = o.workers,
                 .seed = o.seed,
                 .pairs = o.pairs,
                 .deviation = o.deviation,
                 .normalise_observations = o.normalise_observations,
                 .model = o.model,
                 .begin_with = o.begin_with},
                {nn::sgd({.rate = 1}), -o.rate, 0}, "step_norm"),
      options_(o) {
  detail::require_sense(o);
  detail::require_one(".top", o.top);
  if (o.top > o.pairs) throw error(base::text("manta: rl: .top is {}, more than .pairs, which is {}", o.top, o.pairs));
}

MANTA_DECL std::vector<float> ars::weigh(const std::vector<double>& returns) const {
  return top_weights(returns, options_.top);
}

}  // namespace manta::rl
