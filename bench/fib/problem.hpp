// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P8: nested tasks. fib(27) by the definition, every call a task that submits two
// and waits for both: 832 039 tasks, no work in any.
#pragma once

namespace fib {

inline constexpr int n = 27;
inline constexpr long value = 196'418;
inline constexpr int calls = 832'039;  // 2 fib(n + 1) - 1

}  // namespace fib
