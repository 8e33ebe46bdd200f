// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which parameters matter: what each explains of the variation of the loss, by fanova.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manta/tune/fanova.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune {

/// The share from 0 to 1 that each parameter explains alone, with half of what each of its pairs explains only
/// together; the largest first. What three or more explain only together is the rest to 1. It is empty where fanova is.
/// Trials that failed count as the worst, whatever they reported before, unless they may be the best ones.
MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail = false);
/// The shares that follow from these effects, which are those of fanova.
MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<effect>& effects);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/importance.ipp"
#endif
