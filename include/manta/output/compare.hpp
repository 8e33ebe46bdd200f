// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Curves of several runs on one page, from the progress.csv that each has written to its folder:
//
//   output::compare_runs({"runs/rate-1e-3", "runs/rate-1e-2"}, "runs/compare.html");
#pragma once

#include <string>
#include <vector>

#include "manta/output/source.hpp"

namespace manta::output {

/// Writes a page with a picture for each column of numbers, in which each run is a line with the name of its folder.
/// Columns that are the same number everywhere are left out. Throws manta::error for a folder without progress.csv, or
/// if that has no rows yet.
MANTA_DECL void compare_runs(const std::vector<std::string>& folders, const std::string& page);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/compare.ipp"
#endif
