// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The statistics of a run in Prometheus' text format, MANTA_METRICS=file: for its node exporter, which reads such files
// from a folder. Labels are functions and nodes, never ranks or tasks, so that their number has a limit.
#pragma once

#include <string>

#include "manta/report/statistics.hpp"

namespace manta::report {

MANTA_DECL std::string run_metrics(const statistics& s);

/// Functions beyond these are one, "other".
inline constexpr std::size_t most_functions_in_metrics = 64;

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/run_metrics.ipp"
#endif
