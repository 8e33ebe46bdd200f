// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run prints of itself when it ends: one line, or a table.
#pragma once

#include <string>

#include "manta/report/statistics.hpp"

namespace manta::report {

/// The line that a run prints at its end, with a line break: how much was done, and how well the ranks were used. The
/// most important advice follows if it concerns more than a fifth of the time.
MANTA_DECL std::string last_line(const statistics& s);

/// The table of MANTA_SUMMARY=1: where the time went, the functions, the values, and what would help.
MANTA_DECL std::string summary_table(const statistics& s);

/// A run that is shorter prints no line of its own accord.
inline constexpr double least_seconds_of_last_line = 10;

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/summary.ipp"
#endif
