// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where the time of a step goes: reading samples, the passes through the model, waiting for other workers, the update.
#pragma once

#include <chrono>

#include "manta/train/learner.hpp"
#include "manta/train/pass.hpp"

namespace manta::train::detail {

class step_clock {
 public:
  void begin(const learner& l) {
    begin_ = passed_ = exchanged_ = now();
    read_before_ = l.reading_seconds();
  }
  /// The passes through the model have ended.
  void passed() { passed_ = exchanged_ = now(); }
  /// All sums over the workers are there.
  void exchanged() { exchanged_ = now(); }
  /// The step is made.
  void add_to(step_totals& all, const learner& l, double gradient_norm) const {
    const double reading = l.reading_seconds() - read_before_;
    ++all.steps;
    all.gradient_norms += gradient_norm;
    all.seconds.reading += reading;
    all.seconds.passes += seconds(begin_, passed_) - reading;
    all.seconds.exchange += seconds(passed_, exchanged_);
    all.seconds.update += seconds_since(exchanged_);
  }
  /// Runs what waits for other workers after local steps.
  template <class Wait>
  static void exchange(step_totals& all, Wait wait) {
    const time begin = now();
    wait();
    all.seconds.exchange += seconds_since(begin);
  }

 private:
  using time = std::chrono::steady_clock::time_point;
  static time now() { return std::chrono::steady_clock::now(); }
  static double seconds(time from, time to) { return std::chrono::duration<double>(to - from).count(); }

  time begin_, passed_, exchanged_;
  double read_before_ = 0;
};

}  // namespace manta::train::detail
