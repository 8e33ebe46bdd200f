// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of random.hpp.
#pragma once

#include "manta/nn/random.hpp"

#include <cmath>
#include <numbers>

namespace manta::nn {

namespace detail {
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}
}  // namespace detail

MANTA_DECL random::random(std::uint64_t seed, std::uint64_t stream, std::uint64_t purpose)
    : key_(detail::mixed(detail::mixed(detail::mixed(seed + 0x9e3779b97f4a7c15ULL) ^ stream) ^
                         (purpose + 0x632be59bd9b4e019ULL))) {}

MANTA_DECL std::uint64_t random::bits(std::uint64_t i) const {
  return detail::mixed(key_ + (i + 1) * 0x9e3779b97f4a7c15ULL);
}

MANTA_DECL double random::normal(std::uint64_t i) const {
  return std::sqrt(-2 * std::log(uniform(2 * i))) * std::cos(2 * std::numbers::pi * uniform(2 * i + 1));
}

}  // namespace manta::nn
