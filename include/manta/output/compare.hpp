// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Curves of several runs on one page, from the progress.csv that each has written to its folder:
//
//   output::compare_runs({"runs/rate-1e-3", "runs/rate-1e-2"}, "runs/compare.html");
//   output::compare_seeds({{"ppo", {"ppo-1", "ppo-2", "ppo-3"}}, {"a2c", {"a2c-1", "a2c-2", "a2c-3"}}}, "seeds.html");
#pragma once

#include <string>
#include <vector>

#include "manta/output/source.hpp"

namespace manta::output {

/// Writes a page with a picture for each column of numbers, in which each run is a line with the name of its folder.
/// Columns that are the same number everywhere are left out. Throws manta::error for a folder without progress.csv, or
/// if that has no rows yet.
MANTA_DECL void compare_runs(const std::vector<std::string>& folders, const std::string& page);

/// Runs that differ in their seeds alone, by a name for all of them.
struct seeds {
  std::string name;
  std::vector<std::string> folders;
};

/// Writes a page in which a line is the median of all seeds of a name, and the band behind it reaches from
/// the least to the largest of them. Between two rows of a run values are interpolated; a line ends where
/// the first of its runs does.
MANTA_DECL void compare_seeds(const std::vector<seeds>& all, const std::string& page);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/compare.ipp"
#endif
