// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Is a number a NaN, or infinite? Asked of its bits: with -ffast-math compilers
// take for granted that there are no such numbers, and answer x != x,
// std::isnan(x) and x < infinity without looking.
#pragma once

#include "manta/base/config.hpp"

#include <bit>
#include <cstdint>

namespace manta::base {

inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

constexpr std::uint64_t magnitude_bits(double x) { return std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63); }

constexpr bool is_nan(double x) { return magnitude_bits(x) > infinity_bits; }
/// Of either sign.
constexpr bool is_infinite(double x) { return magnitude_bits(x) == infinity_bits; }
/// Neither.
constexpr bool is_finite(double x) { return magnitude_bits(x) < infinity_bits; }

}  // namespace manta::base
