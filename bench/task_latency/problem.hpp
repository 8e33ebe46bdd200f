// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2: how long one task takes there and back. Rank 0 submits a task, waits for its
// result, and submits the next: 100 000 round trips, of which the mean is taken.
// The caches are warm; after a silence of milliseconds every round trip costs more,
// with bare MPI as well.
#pragma once

namespace task_latency {

inline constexpr int round_trips = 100'000;

inline int increment(int x) { return x + 1; }

}  // namespace task_latency
