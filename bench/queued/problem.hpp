// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P6: a million tasks that wait in rank 0's queue because no rank has room, then
// run. How long it takes to queue them, how long until all have ended, what each
// takes of rank 0's memory while it waits; and whether memory stays what it is
// when ten million have gone through.
#pragma once

#include <cstdint>

namespace queued {

inline constexpr int tasks = 1'000'000;
inline constexpr int passes = 10;  // of a million tasks each

inline int increment(int x) { return x + 1; }
/// 1 + 2 + ... + tasks
inline constexpr std::int64_t sum = std::int64_t{tasks} * (tasks + 1) / 2;

}  // namespace queued
