// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of each trial, and the log of decisions:
//   trials/00012/config.json     the configuration
//   trials/00012/params.json     likewise, under the name that rllab's VisKit looks for beside progress.csv
//   trials/00012/result.jsonl    a line of JSON for each report
//   trials/00012/progress.csv    a row for each report
//   decisions.jsonl              what scheduler and rules decided, and why
#pragma once

#include "manta/output/csv.hpp"
#include "manta/output/json_lines.hpp"
#include "manta/tune/output/trial_files.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// config.json, params.json and result.jsonl of each trial.
class json_lines {
 public:
  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void add(const trial_record& t);
  MANTA_DECL void report(const trial_record& t, const metrics& m, double seconds);
  void end(const trial_record& t) { files_.end(t); }
  void flush() { files_.flush(); }

 private:
  detail::trial_files<output::json_lines> files_;
};

/// progress.csv of each trial. A metric that is reported for the first time makes a new column; what is
/// missing stays empty.
class csv {
 public:
  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void report(const trial_record& t, const metrics& m, double seconds);
  void end(const trial_record& t) { files_.end(t); }
  void flush() { files_.flush(); }

  /// A text as one cell: in quotes if it has to be.
  static void append_cell(std::string& out, std::string_view text) { output::append_csv_text(out, text); }

 private:
  detail::trial_files<output::csv> files_;
};

/// decisions.jsonl of the experiment.
class decision_log {
 public:
  MANTA_DECL void begin(const output_context& c);
  MANTA_DECL void decision(const trial_record& t, std::string_view what, std::string_view why);
  void flush() { file_.flush(); }
  void finish(const std::vector<trial_record>&) { file_.flush(); }

 private:
  output::json_lines file_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/files.ipp"
#endif
