// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One page of all searches below a folder, those that run included.
//
//   tune::index("searches");       // writes searches/index.html
#pragma once

#include <string>
#include <vector>

#include "manta/tune/output/summary.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The searches in a folder and below it, in the order of their folders: those of this version that have a .folder. May
/// be called by any program, also while they run. Throws if there is no such folder.
MANTA_DECL std::vector<search_summary> searches_in(const std::string& folder);

/// Writes index.html into the folder, which shows these searches, their best values, trials and states, with links to
/// their reports. The file is replaced at once; while one of them runs, the page reloads itself. Returns the searches.
MANTA_DECL std::vector<search_summary> index(const std::string& folder);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/index.ipp"
#endif
