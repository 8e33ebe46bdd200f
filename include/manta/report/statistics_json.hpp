// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The statistics of a run as JSON, for programs: MANTA_SUMMARY=run.json. README.md beside this file has the members.
#pragma once

#include <string>

#include "manta/report/statistics.hpp"

namespace manta::report {

/// One object, in lines of moderate length, with a line break at its end.
MANTA_DECL std::string to_json(const statistics& s);

/// The version of the format: a member is added without a new version, and changes or goes only with one.
inline constexpr int json_version = 1;

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/statistics_json.ipp"
#endif
