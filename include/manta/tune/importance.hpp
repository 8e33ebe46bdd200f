// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much each parameter matters: the share of the variation between trials
// that the parameter alone explains (its first-order index, estimated from the means
// of bins with equally many trials; Saltelli et al., "Global Sensitivity
// Analysis", 2008). Losses enter by rank, so that a few terrible ones do not decide.
#pragma once

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune {

/// Shares from 0 to 1, the largest first. They need not add up to 1: what parameters do only together is in none;
/// fanova.hpp has it. Empty if there are fewer than eight trials with a value. Trials that failed count as the worst,
/// whatever they reported before.
MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail = false);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/importance.ipp"
#endif
