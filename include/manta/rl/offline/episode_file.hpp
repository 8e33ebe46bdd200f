// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta's own file of episodes: a head with the environment, then a record for each episode with a checksum. Records
// are only ever appended, so a job that is killed leaves whole episodes and at most one torn record at the end, which
// the next recording cuts off. Numbers are little-endian.
//
//   head      "mantaEP1", bytes (8), checksum (4), the environment
//   record    "EPI1", checksum (4), bytes (8), then
//             source (8), number (8), steps (8), terminated (1), has log_probabilities (1), the first observation, and
//             for each step action, reward (8), log_probability (4), mask, next observation
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/nn/weights.hpp"
#include "manta/rl/offline/episodes.hpp"

namespace manta::rl::detail {

/// Whose episode it is: a hash of who has played it, and its number among these.
struct episode_origin {
  std::uint64_t source = 0, number = 0;
};

/// What was read of a file.
struct read_file {
  any_environment environment;  ///< none: the file does not tell its spaces
  std::vector<recorded_episode> episodes;
  std::vector<episode_origin> origins;   ///< origins of manta's own file, for each of the episodes
  std::vector<nn::stored_array> arrays;  ///< arrays of .npz, until the spaces are known
  std::uint64_t whole_bytes = 0;         ///< bytes of manta's own file, up to the end of the last whole episode

  /// The episodes, of these spaces.
  MANTA_DECL std::vector<recorded_episode> take(const std::string& path, const any_environment& known);
};

/// Throws manta::error, with file, episode and step, if the file is damaged, or if its end is torn and `torn` is false.
MANTA_DECL read_file read_episode_file(const std::string& path, bool torn);
/// Replaces the file at once or not at all.
MANTA_DECL void write_episode_file(const std::string& path, const any_environment& e,
                                   const std::vector<recorded_episode>& all);
/// The head of a file of this environment.
MANTA_DECL std::string head_of_file(const any_environment& e);
/// The record of an episode.
MANTA_DECL std::string record_of(const any_environment& e, const recorded_episode& r, const episode_origin& from);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/offline/episode_file.ipp"
#endif
