// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14: how long a program takes to its first result: from the beginning of main
// until the result of a task (by hand: the answer of rank 1) is on rank 0. One
// measurement a start; the goal is about the difference.
#pragma once

namespace start {

inline int increment(int x) { return x + 1; }

}  // namespace start
