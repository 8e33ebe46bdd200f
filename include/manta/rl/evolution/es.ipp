// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>

#include "manta/rl/evolution/es.hpp"

namespace manta::rl {

MANTA_DECL std::vector<float> centred_ranks(const std::vector<double>& returns) {
  std::vector<std::size_t> order(returns.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return returns[a] != returns[b] ? returns[a] < returns[b] : a < b; });
  std::vector<float> ranks(returns.size());
  const auto last = static_cast<double>(std::max<std::size_t>(1, returns.size() - 1));
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && returns[order[end]] == returns[order[begin]]) ++end;
    const double middle = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = static_cast<float>(middle / last - 0.5);
  }
  return ranks;
}

MANTA_DECL es::es(const any_environment& e, const es_options& o)
    : evolution("es", e,
                {.workers = o.workers,
                 .seed = o.seed,
                 .pairs = o.pairs,
                 .deviation = o.deviation,
                 .normalise_observations = o.normalise_observations,
                 .model = o.model,
                 .begin_with = o.begin_with},
                {nn::adam({.rate = o.rate}), -1 / (2.0 * o.pairs * o.deviation), o.decay}, "gradient_norm") {
  detail::require_sense(o);
}

MANTA_DECL std::vector<float> es::weigh(const std::vector<double>& returns) const {
  const std::vector<float> ranks = centred_ranks(returns);
  std::vector<float> weights;
  for (std::size_t i = 0; i < ranks.size(); i += 2) weights.push_back(ranks[i] - ranks[i + 1]);
  return weights;
}

}  // namespace manta::rl
