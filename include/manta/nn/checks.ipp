// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/checks.hpp"

namespace manta::nn {

namespace detail {

/// Without the sign, the bits of a number grow with its magnitude, and those of NaN are greater than those of infinity.
/// So bits + (2^31 - bits of the limit) has its highest bit set where the limit is reached. This is arithmetic of
/// integers, which -ffast-math does not touch. Several numbers are looked at together: the compiled mode may be built
/// without the optimisations that would do this to a loop.
template <class T, class Bits>
bool any_bits_reach(std::span<const T> numbers, T limit) {
  constexpr std::size_t lanes = 16 / sizeof(T), groups = 4;
  using vector [[gnu::vector_size(16)]] = Bits;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits distance = sign - (std::bit_cast<Bits>(limit) & ~sign);
  vector reached[groups] = {};
  std::size_t i = 0;
  for (; i + groups * lanes <= numbers.size(); i += groups * lanes) {
    for (std::size_t k = 0; k < groups; ++k) {
      vector bits;
      std::memcpy(&bits, numbers.data() + i + k * lanes, sizeof bits);
      reached[k] |= (bits & ~sign) + distance;
    }
  }
  Bits any = 0;
  for (const vector& each : reached) {
    for (std::size_t lane = 0; lane < lanes; ++lane) any |= each[lane];
  }
  for (; i < numbers.size(); ++i) any |= (std::bit_cast<Bits>(numbers[i]) & ~sign) + distance;
  return (any & sign) != 0;
}

MANTA_DECL void check_option(bool holds, std::string_view whose, std::string_view option, double value,
                             std::string_view range) {
  if (holds && base::is_finite(value)) return;
  throw error(base::text("manta: nn: {}: {} is {}; it has to be {}", whose, option, value, range));
}

MANTA_DECL void check_layer_option(bool holds, std::string_view option, double value, std::string_view range) {
  if (holds && base::is_finite(value)) return;
  throw error(base::text("{} is {}; it has to be {}", option, value, range));
}

}  // namespace detail

MANTA_DECL bool any_reaches(std::span<const float> numbers, float limit) {
  return detail::any_bits_reach<float, std::uint32_t>(numbers, limit);
}
MANTA_DECL bool any_reaches(std::span<const double> numbers, double limit) {
  return detail::any_bits_reach<double, std::uint64_t>(numbers, limit);
}

}  // namespace manta::nn
