// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is said where a recipe and the state from which it goes on were told different things, and which of
// the two holds.
#pragma once

#include <string>
#include <vector>

#include "manta/train/state.hpp"

namespace manta::train::detail {

struct told_difference {
  bool recipe_holds = false;       ///< whether the recipe holds for the settings of the optimiser
  std::vector<std::string> names;  ///< names of the settings that differ
  std::vector<std::string> lines;  ///< a line for each of them
};

/// Compares with what the trainer was told, and its seed. `name`: what the state is, for the lines.
MANTA_DECL told_difference compare_told(const state& s, const told_settings& told, std::uint64_t seed, settings hold,
                                        const std::string& name);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/told_lines.ipp"
#endif
