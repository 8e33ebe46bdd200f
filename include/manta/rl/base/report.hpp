// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an iteration of a training gave.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <map>
#include <string>

#include "manta/rl/source.hpp"

namespace manta::rl {

/// Stands for the return as long as no episode has ended.
inline constexpr double no_return = std::numeric_limits<double>::lowest();

struct report {
  std::uint64_t iteration = 0;
  std::uint64_t steps = 0;         ///< steps of all environments since the beginning
  std::uint64_t episodes = 0;      ///< that have ended since the beginning
  double mean_return = no_return;  ///< mean return of the last 100 episodes; no_return before the first has ended
  double min_return = no_return, max_return = no_return;
  double mean_length = 0;                      ///< mean length of the last 100 episodes
  double seconds = 0;                          ///< seconds of this iteration
  double sample_seconds = 0;                   ///< seconds of these in which workers acted
  double learn_seconds = 0;                    ///< seconds of these in which the learner worked
  std::map<std::string, double> learner = {};  ///< its own figures: losses, entropy, ..
  std::map<std::string, double> figures = {};  ///< those of environments and callbacks: means of the last 100 episodes

  template <class Archive>
  void serialize(Archive& archive) {
    archive(iteration, steps, episodes, mean_return, min_return, max_return, mean_length, seconds, sample_seconds,
            learn_seconds, learner, figures);
  }
};

/// One line: "iteration 12, 24576 steps, 180 episodes: return 143.2 (20 to 500), length 143.2".
MANTA_DECL std::ostream& operator<<(std::ostream& out, const report& r);

namespace detail {
/// Seconds since a moment.
MANTA_DECL double since(std::chrono::steady_clock::time_point begin);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/base/report.ipp"
#endif
