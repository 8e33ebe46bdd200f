// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files for TensorBoard: trials/00012/events.out.tfevents.0000000000.manta,
// one scalar for each metric of each report.
#pragma once

#include "manta/output/tensorboard.hpp"
#include "manta/tune/output/trial_files.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace event_file = output::event_file;

class tensorboard {
 public:
  /// `fixed_time`: of the wall clock; a test sets it.
  explicit tensorboard(double fixed_time = 0) : fixed_time_(fixed_time) {}

  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void report(const trial_record& t, const metrics& m, double);
  void end(const trial_record& t) { files_.end(t); }
  void flush() { files_.flush(); }

 private:
  double fixed_time_;
  detail::trial_files<output::tensorboard> files_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/tensorboard.ipp"
#endif
