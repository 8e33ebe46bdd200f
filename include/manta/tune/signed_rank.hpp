// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The signed-rank test for pairs (Wilcoxon, Biometrics Bulletin 1, 1945).
#pragma once

#include <vector>

#include "manta/tune/source.hpp"

namespace manta::tune {

/// The probability that the positive differences have a sum of ranks at least as large as here, if each difference
/// could as well have the other sign: small if the differences are positive beyond chance. Equal sizes share the middle
/// of their ranks; differences of zero have ranks, half of which counts as positive. Exact for up to 54 differences,
/// beyond that by the normal distribution.
MANTA_DECL double signed_rank_p(const std::vector<double>& differences);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/signed_rank.ipp"
#endif
