// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What manta takes: memory of a rank that has done nothing yet, memory of futures
// and actors, and bytes between the ranks for a task and its result.
#pragma once

namespace footprint {

inline constexpr int futures = 1'000'000;
inline constexpr int actors = 100'000;
inline constexpr int tasks = 1'000'000;

inline int increment(int x) { return x + 1; }

/// As small as an object can be.
struct nothing {
  int touch() { return 1; }
};

}  // namespace footprint
