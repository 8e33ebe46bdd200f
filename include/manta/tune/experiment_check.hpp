// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is looked at before the first trial, so that mistakes are found then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune::detail {

/// Throws if the options contradict each other.
MANTA_DECL void check(const experiment& e);
/// Throws if a parameter is in no configuration of the space. Functions in the space that throw do so now.
MANTA_DECL void try_space(const space& where, std::uint64_t seed);
/// The metrics beside the experiment's own that rules and constraints look at.
MANTA_DECL std::vector<std::string> metrics_of_rules(const experiment& e);
/// Why a report is a mistake; nothing if it is none.
MANTA_DECL std::optional<std::string> mistake_in_report(const metrics& m, const std::vector<objective>& objectives,
                                                        const std::string& clock);

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/experiment_check.ipp"
#endif
