// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P17: does a rank answer while it computes? Rank 1 computes for a second without
// a call of the library, and rank 0 asks it for values that lie there, one after
// the other with pauses. What the answers cost rank 1 in processor time, and what
// a rank that has nothing to do takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "../common/measure.hpp"

namespace answer {

inline constexpr int questions = 400;
/// In a value: 2 kB are too many to travel with the news that it is there, and few enough for one message.
inline constexpr std::size_t numbers = 256;
inline constexpr double seconds = 1;
inline constexpr double idle_seconds = 2;

inline void compute(double how_long) {
  const bench::stopwatch watch;
  while (watch.seconds() < how_long) {
  }
}
/// From a quarter of a millisecond to two, so that no rhythm of the library is met.
inline void pause(int i) { std::this_thread::sleep_for(std::chrono::microseconds(250 + 1750 * (i * 37 % 100) / 100)); }

inline double percentile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

}  // namespace answer
