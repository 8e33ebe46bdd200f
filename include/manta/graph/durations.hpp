// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How long tasks take: what is sent to a rank ahead of time is measured by it,
// and before the end of an allocation it tells which tasks still fit.
#pragma once

#include "manta/graph/task.hpp"

namespace manta::graph {

/// Instead of the nanoseconds that a task took: it has ended without having run.
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
  /// In nanoseconds.
  float mean(std::uint32_t function) const { return function < means_.size() ? means_[function] : unknown; }
  /// How long this task takes: as its options say, else as others of its function took. Unknown for an actor, which is
  /// made to stay.
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
