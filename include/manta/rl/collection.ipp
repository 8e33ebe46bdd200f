// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of collection.hpp.
#pragma once

#include "manta/rl/collection.hpp"

namespace manta::rl {

MANTA_DECL void estimate_advantages(std::span<const double> rewards, std::span<const float> values,
                                    std::span<const char> terminated, std::span<const char> truncated,
                                    std::span<const float> final_values, double discount, double lambda,
                                    std::span<float> advantages) {
  double next = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    const double value_after = terminated[t] ? 0 : static_cast<double>(truncated[t] ? final_values[t] : values[t + 1]);
    const double delta = rewards[t] + discount * value_after - static_cast<double>(values[t]);
    next = delta + (terminated[t] || truncated[t] ? 0 : discount * lambda * next);
    advantages[t] = static_cast<float>(next);
  }
}

MANTA_DECL void collection::estimate(const valued_steps& s, std::span<float> advantages) const {
  estimate_advantages(s.rewards, s.values, s.terminated, s.truncated, s.final_values, s.discount, s.lambda, advantages);
}

}  // namespace manta::rl
