// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Looks at numbers that must not be wrong: options that a program gives, and arrays whose numbers have to be finite.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "manta/base/number.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

/// Whether the magnitude of a number is `limit` or more, or a number is NaN. Costs one pass over the array.
MANTA_DECL bool any_reaches(std::span<const float> numbers, float limit);
MANTA_DECL bool any_reaches(std::span<const double> numbers, double limit);

/// Whether no number is infinite or NaN.
template <class T>
bool all_finite(std::span<const T> numbers) {
  return !any_reaches(numbers, std::numeric_limits<T>::infinity());
}

namespace detail {

/// Throws "manta: nn: WHOSE: OPTION is VALUE; it has to be RANGE" unless the value is finite and `holds`.
MANTA_DECL void check_option(bool holds, std::string_view whose, std::string_view option, double value,
                             std::string_view range);

/// As check_option, for an option of a layer. The network adds which layer it is.
MANTA_DECL void check_layer_option(bool holds, std::string_view option, double value, std::string_view range);

}  // namespace detail

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/checks.ipp"
#endif
