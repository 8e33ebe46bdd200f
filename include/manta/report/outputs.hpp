// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run says of itself, as the settings ask for it: files that are rewritten while it runs and at its end, and
// lines on standard error. On rank 0. A file that cannot be written is an error at the begin of the run, and a line on
// standard error later: a full disk ends no run. Each file is replaced at once, so that it is whole or absent.
#pragma once

#include <string>

#include "manta/report/output_settings.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/statistics.hpp"
#include "manta/report/status.hpp"

namespace manta::report {

/// A name of a file with the number of the job in place of %j, as Slurm names outputs.
MANTA_DECL std::string with_job(std::string path, const std::string& job);
/// Throws if a file of this name cannot be written.
MANTA_DECL void check_file(const std::string& path);

class outputs {
 public:
  /// Nothing is asked for but the last line.
  outputs() = default;
  /// `job`: its number, in place of %j in the names of files. Throws if a file cannot be written.
  MANTA_DECL outputs(output_settings settings, std::string job);

  /// A run begins.
  MANTA_DECL void begin_run();
  /// Not even the last line is asked for.
  bool is_silent() const { return settings_.summary == "0"; }
  /// Seconds from the begin of the run at which write(run_status) is wanted next; infinity: never.
  double status_due() const { return status_due_; }
  /// Seconds from the begin of the run at which write(statistics) is wanted next; infinity: never.
  double statistics_due() const { return statistics_due_; }
  /// Writes what is due: the status file, or a line; the comment of the job in Slurm.
  MANTA_DECL void write(const run_status& now);
  MANTA_DECL void write(const run_state& now);  ///< Replaces the file of the state, if there is one.
  /// Writes what is due: the page and the metrics.
  MANTA_DECL void write(const statistics& now);
  /// Writes the status for the last time, at the end of the run or before the process has to end.
  MANTA_DECL void write_last(const run_status& status);
  /// Writes the page, the metrics and the file of the summary for the last time.
  MANTA_DECL void write_last(const statistics& all);
  /// What standard error gets at the end, after everything else: a line, a table, or nothing.
  MANTA_DECL std::string last_words(const statistics& all) const;

 private:
  void replace(const std::string& path, const std::string& content);

  output_settings settings_;
  std::string job_;
  double status_due_ = never, statistics_due_ = never, comment_due_ = 0;
  bool has_complained_ = false;

  static constexpr double never = __builtin_huge_val();
};

/// Sets the comment of a job of Slurm, which `squeue -o %k` shows, in a process of its own that nobody waits for.
MANTA_DECL void set_slurm_comment(const std::string& job, const std::string& comment);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/outputs.ipp"
#endif
