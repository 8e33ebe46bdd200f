// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trial came to, as searchers are told: its losses, whether it keeps the constraints, and where it was stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "manta/tune/math.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// Losses by time, of one trial: at most about `most` points, evenly chosen, and the last one.
class curve {
 public:
  struct point {
    float at, y;
    std::uint32_t line;  ///< points of one line belong together; a new one begins where the trial became another
  };
  MANTA_DECL void add(double at, double y);
  /// Begins a new line: the next point does not go on from the last one.
  void cut() { ++line_; }
  bool empty() const { return points_.empty(); }
  MANTA_DECL std::vector<point> points() const;
  /// The least loss up to that time; infinite if there is none.
  MANTA_DECL double best_by(double at) const;
  /// The last loss up to that time; infinite if there is none.
  MANTA_DECL double last_by(double at) const;
  void shrink() { points_.shrink_to_fit(); }

 private:
  static constexpr std::size_t most = 64;
  std::vector<point> points_;
  point last_ = {0, 0, 0};
  std::uint32_t stride_ = 1, seen_ = 0, line_ = 0;
  bool has_last_ = false;
};

/// The sum of what broken constraints are broken by; 0: all are kept.
MANTA_DECL double violation_of(const std::vector<double>& excess);

struct outcome {
  outcome() = default;
  /// The outcome of a trial that ended by itself; NaN: it failed.
  outcome(double l) : loss(l) {}

  double loss = 0;                  ///< smaller is better; NaN: the trial failed. The first of several
  std::vector<double> losses = {};  ///< those of all objectives, if there are several
  std::vector<double> excess = {};  ///< amount by which each constraint is broken; not positive: it is kept
  bool was_stopped = false;         ///< whether the scheduler stopped it before its end
  double at = infinity;             ///< the time at which it was stopped
  curve course = {};                ///< its losses on the way
  bool is_mean = false;             ///< the loss is the mean of the reports, and the course is that of the mean

  bool has_failed() const { return is_nan(loss); }
  double violation() const { return violation_of(excess); }
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/outcome.ipp"
#endif
