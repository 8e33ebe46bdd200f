// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Event files for TensorBoard (tensorboard --logdir FOLDER/trials):
//   trials/00012/events.out.tfevents.0000000000.manta   one scalar for each metric of each report, and the
//   configuration trials/events.out.tfevents.0000000000.manta         the space and the metrics, for the plug-in
//   HParams
#pragma once

#include "manta/output/tensorboard.hpp"
#include "manta/tune/output/files.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace event_file = output::event_file;

class tensorboard {
 public:
  /// `fixed_time`: of the wall clock; a test sets it.
  explicit tensorboard(double fixed_time = 0) : fixed_time_(fixed_time) {}

  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void add(const trial_record& t);
  MANTA_DECL void report(const trial_record& t, const metrics& m, double);
  MANTA_DECL void end(const trial_record& t);
  void flush() { files_.flush(); }

 private:
  double time_of(const trial_record& t) const;
  output::tensorboard& file_of(const trial_record& t);
  /// Written with the first report: only then metrics are known. The plug-in takes the first such event it
  /// sees for good.
  void describe_experiment(const trial_record& t, const metrics& m);

  double fixed_time_;
  bool is_described_ = false;
  detail::trial_files<output::tensorboard> files_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/tensorboard.ipp"
#endif
