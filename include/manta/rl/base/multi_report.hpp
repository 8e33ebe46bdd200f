// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an iteration of a training of several policies gave, or an evaluation of them.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

#include "manta/rl/base/report.hpp"

namespace manta::rl {

struct multi_report {
  std::uint64_t iteration = 0;
  std::uint64_t steps = 0;     ///< steps of all games since the beginning
  std::uint64_t episodes = 0;  ///< episodes of games that have ended since the beginning
  double mean_length = 0;      ///< mean length of the last 100 episodes, in steps of the game
  double seconds = 0;          ///< seconds of this iteration
  double sample_seconds = 0;   ///< seconds of these in which workers acted
  double learn_seconds = 0;    ///< seconds of these in which policies learnt
  /// By policy. `episodes` are those of seats from which it acted: two in a game if it has two seats. `steps` and
  /// lengths count its turns.
  std::map<std::string, report> policies;
  std::map<std::string, double> figures;  ///< figures of the games: means of the last 100 episodes

  /// The policy's report. Throws manta::error if there is none of this name.
  [[nodiscard]] MANTA_DECL const report& operator[](const std::string& policy) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, steps, episodes, mean_length, seconds, sample_seconds, learn_seconds, policies, figures);
  }
};

/// A line for the games, and one for each policy.
MANTA_DECL std::ostream& operator<<(std::ostream& out, const multi_report& r);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/base/multi_report.ipp"
#endif
