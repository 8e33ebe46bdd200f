// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14: how long a program takes from the beginning of main until the result of its
// first task (by hand: the answer of another rank) is on rank 0, and from there to
// the end of main; one measurement a start. The goal is about the difference. On 2
// ranks, and on more than there are cores, to see how it grows.
#pragma once

#include <cstdio>

#include "../common/measure.hpp"

namespace start {

inline int increment(int x) { return x + 1; }

/// Prints as name_ranks.
inline void report(const char* name, int ranks, const char* program, double seconds) {
  char figure[64];
  std::snprintf(figure, sizeof figure, "%s_%d", name, ranks);
  bench::report(figure, program, 1e3 * seconds, "ms");
}

}  // namespace start
