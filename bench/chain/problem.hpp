// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P16: a chain. A million tasks, each of which takes the result of the one before:
// x = async<increment>(x). The time runs from the first submission until the last
// result is read.
#pragma once

namespace chain {

inline constexpr int links = 1'000'000;

inline int increment(int x) { return x + 1; }

}  // namespace chain
