// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How long tasks take. The scheduler uses the estimates to measure the work that it sends to a rank ahead of time, and
// to find the tasks that still fit before the end of an allocation.
#pragma once

#include "manta/graph/task.hpp"

namespace manta::graph {

/// Stands for the duration of a task that has ended without having run.
inline constexpr std::uint64_t not_run = ~std::uint64_t{0};

/// A smoothed mean for each function.
class durations {
 public:
  static constexpr float unknown = -1;

  void learn(std::uint32_t function, std::uint64_t ns) {
    if (function >= means_.size()) means_.resize(function + 1, unknown);
    float& mean = means_[function];
    const auto sample = static_cast<float>(ns);
    mean = mean < 0 ? sample : mean + (sample - mean) / 8;
  }
  /// The mean of a function's tasks in nanoseconds, or `unknown`.
  float mean(std::uint32_t function) const { return function < means_.size() ? means_[function] : unknown; }
  /// The expected duration of a task: the option `duration`, else the mean of its function. It is unknown for an actor,
  /// which has no end of its own.
  double expected(const node& n) const {
    const request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
    if (wanted != nullptr && wanted->actor) return unknown;
    if (wanted != nullptr && wanted->duration > 0) return static_cast<double>(wanted->duration);
    return static_cast<double>(mean(n.function));
  }

 private:
  base::list<float> means_;
};

}  // namespace manta::graph
