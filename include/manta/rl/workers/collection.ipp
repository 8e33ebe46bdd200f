// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/rl/workers/collection.hpp"

namespace manta::rl {

MANTA_DECL void estimate_advantages(const valued_steps& s, std::span<float> advantages) {
  double next = 0;
  for (std::size_t t = s.rewards.size(); t-- > 0;) {
    const double value_after =
        s.terminated[t] ? 0 : static_cast<double>(s.truncated[t] ? s.final_values[t] : s.values[t + 1]);
    const double discount = s.discounts.empty() ? s.discount : s.discounts[t];
    const double delta = s.rewards[t] + discount * value_after - static_cast<double>(s.values[t]);
    next = delta + (s.terminated[t] || s.truncated[t] ? 0 : discount * s.lambda * next);
    advantages[t] = static_cast<float>(next);
  }
}

MANTA_DECL void collection::estimate(const valued_steps& s, std::span<float> advantages) const {
  estimate_advantages(s, advantages);
}

}  // namespace manta::rl
