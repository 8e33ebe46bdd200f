// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1: how many empty tasks a second one submitter gets through. A million tasks
// with an int argument and an int result are submitted by rank 0, then all results
// are read in order. The time runs from the first submission until the last result
// is read and the last handle is gone.
#pragma once

#include <cstdint>

namespace task_rate {

inline constexpr int tasks = 1'000'000;

/// The task: not quite empty, so that a result cannot be right by accident.
inline int increment(int x) { return x + 1; }

/// The results as they are read.
class tally {
 public:
  void add(int index, int value) {
    sum_ += value;
    in_place_ &= value == index + 1;
  }
  /// Every result in its own place, and their sum n (n + 1) / 2.
  bool correct() const { return in_place_ && sum_ == std::int64_t{tasks} * (tasks + 1) / 2; }

 private:
  std::int64_t sum_ = 0;
  bool in_place_ = true;
};

}  // namespace task_rate
