// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P15: rollouts of a simulator whose lengths differ, from 10 to 1 000 steps, all
// equally likely (as in the comparison of Moritz et al., OSDI 2018, section 5.3.2).
// A step sleeps instead of computing, so that there may be more ranks than cores.
// What counts is the number of steps a second on eight ranks that simulate.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "../common/measure.hpp"

namespace simulation {

inline constexpr int simulators = 8;
inline constexpr int rounds = 30;
inline constexpr int rollouts = rounds * simulators;
inline constexpr std::chrono::microseconds step_time{20};

/// Length of a rollout: the same for the same number everywhere.
inline int steps_of(int rollout) {
  std::uint64_t x = static_cast<std::uint64_t>(rollout) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return 10 + static_cast<int>((x ^ (x >> 31)) % 991);
}
inline int simulate(int rollout) {
  const int steps = steps_of(rollout);
  std::this_thread::sleep_for(steps * step_time);
  return steps;
}
inline long all_steps() {
  long sum = 0;
  for (int i = 0; i < rollouts; ++i) sum += steps_of(i);
  return sum;
}
/// Each round takes as long as its longest rollout.
inline double seconds_of_rounds() {
  long longest = 0;
  for (int round = 0; round < rounds; ++round) {
    int most = 0;
    for (int i = 0; i < simulators; ++i) most = std::max(most, steps_of(round * simulators + i));
    longest += most;
  }
  return std::chrono::duration<double>(longest * step_time).count();
}
inline double thousand_per_second(long steps, double seconds) { return 1e-3 * static_cast<double>(steps) / seconds; }

}  // namespace simulation
