// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/nn/random.hpp"

#include <cmath>
#include <numbers>

namespace manta::nn {

MANTA_DECL random::random(std::uint64_t seed, std::uint64_t stream, std::uint64_t purpose)
    : numbers_(base::mix(seed), stream, purpose, 0x632be59bd9b4e019ULL) {}

MANTA_DECL double random::normal(std::uint64_t i) const {
  return std::sqrt(-2 * std::log(uniform(2 * i))) * std::cos(2 * std::numbers::pi * uniform(2 * i + 1));
}

}  // namespace manta::nn
