// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P5: many futures at once. Ten thousand futures as the arguments of one task,
// three thousand futures as the result of one task, the results of ten thousand
// tasks read, and ten thousand waits for the next of those that are left.
#pragma once

#include <cstdint>
#include <vector>

namespace many_futures {

inline constexpr int arguments = 10'000;
inline constexpr int results = 3'000;
inline constexpr int tasks = 10'000;

inline int increment(int x) { return x + 1; }
inline std::int64_t sum(const std::vector<int>& values) {
  std::int64_t total = 0;
  for (const int x : values) total += x;
  return total;
}
/// 0 + 1 + ... + (count - 1)
inline std::int64_t sum_below(std::int64_t count) { return count * (count - 1) / 2; }

inline double milliseconds(double seconds) { return 1e3 * seconds; }

}  // namespace many_futures
