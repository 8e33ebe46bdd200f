// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Episodes in .npz, the arrays of all of them one after the other (episodes.hpp has their names).
#pragma once

#include <string>
#include <vector>

#include "manta/rl/offline/episode_file.hpp"

namespace manta::rl::detail {

/// The arrays of a file, and its environment where it has one. Throws manta::error if it cannot be read, or if it has
/// not the arrays of episodes.
MANTA_DECL read_file open_episode_npz(const std::string& path);
/// The episodes in these arrays. Throws manta::error, with file, episode and step, if an array is too short, or if its
/// rows are not values of the spaces.
MANTA_DECL std::vector<recorded_episode> episodes_of_arrays(const std::string& path,
                                                            const std::vector<nn::stored_array>& arrays,
                                                            const any_environment& e);
/// Replaces the file at once or not at all.
MANTA_DECL void write_episode_npz(const std::string& path, const any_environment& e,
                                  const std::vector<recorded_episode>& all);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/offline/episode_npz.ipp"
#endif
