// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whether a number is a NaN or infinite, found from its bits. With -ffast-math compilers assume that no such numbers
// exist, and evaluate x != x, std::isnan(x) and x < infinity without looking at x.
#pragma once

#include "manta/base/config.hpp"

#include <bit>
#include <cstdint>

namespace manta::base {

inline constexpr std::uint64_t infinity_bits = 0x7ff0'0000'0000'0000;

constexpr std::uint64_t magnitude_bits(double x) { return std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63); }

constexpr bool is_nan(double x) { return magnitude_bits(x) > infinity_bits; }
/// Whether x is infinite, with either sign.
constexpr bool is_infinite(double x) { return magnitude_bits(x) == infinity_bits; }
/// Whether x is neither infinite nor NaN.
constexpr bool is_finite(double x) { return magnitude_bits(x) < infinity_bits; }

}  // namespace manta::base
