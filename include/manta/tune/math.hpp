// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The few functions of statistics that spaces, searchers and schedulers share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// No loss yet. Asked of the bits whether a number is one (base/number.hpp): `x < infinity` says nothing with
/// -ffast-math.
inline constexpr double infinity = std::numeric_limits<double>::infinity();
using base::is_finite;
using base::is_infinite;
using base::is_nan;

MANTA_DECL double normal_density(double z);

/// P(Z <= z) of the standard normal distribution; exact in the lower tail.
MANTA_DECL double normal_cdf(double z);

/// The z with normal_cdf(z) = p, to machine precision: P. J. Acklam's rational approximation (2003) and one step of
/// Halley's method. Minus or plus infinity at 0 and 1.
MANTA_DECL double normal_quantile(double p);

/// The q-quantile of ascending numbers, linear between neighbours (as numpy.percentile). NaN if there are none.
MANTA_DECL double sorted_quantile(const std::vector<double>& ascending, double q);

MANTA_DECL double median(std::vector<double> numbers);

/// base^exponent of non-negative integers exactly, as long as it fits: logarithms in floating point would make
/// log(243) / log(3) smaller than 5.
MANTA_DECL double integer_power(double base, int exponent);

/// The largest k with base^k <= x, by multiplication; 0 for x < base.
MANTA_DECL int integer_log(double x, double base);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/math.ipp"
#endif
