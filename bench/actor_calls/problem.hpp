// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P3: calls of one actor's method, from rank 0 to an actor on rank 1. Round trip:
// 100 000 calls, each waited for before the next. Pipelined: a million calls made
// at once, then all results read in order. The actor counts its calls, so a call
// that is lost, doubled or out of order shows in the results.
#pragma once

#include <unistd.h>

namespace actor_calls {

inline constexpr int round_trips = 100'000;
inline constexpr int pipelined_calls = 1'000'000;

class counter {
 public:
  /// `x` plus the number of calls before this one: 2 x if x counts the calls as well.
  int add(int x) { return x + calls_++; }
  void reset() { calls_ = 0; }
  int process() const { return ::getpid(); }

 private:
  int calls_ = 0;
};

}  // namespace actor_calls
