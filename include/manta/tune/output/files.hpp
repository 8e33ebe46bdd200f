// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of each trial, and the log of decisions:
//   trials/00012/config.json     the configuration
//   trials/00012/result.jsonl    a line of JSON for each report
//   trials/00012/params.json     the configuration, for what reads CSV, such as rllab's VisKit
//   trials/00012/progress.csv    a row for each report
//   decisions.jsonl              what scheduler and rules decided, and why
// Each output has one writer of manta/output for each trial that has not ended.
#pragma once

#include <map>

#include "manta/output/csv.hpp"
#include "manta/output/json_lines.hpp"
#include "manta/output/row.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

namespace detail {

/// `Writer`: output::csv, output::json_lines or output::tensorboard.
template <class Writer>
class trial_files {
 public:
  void begin(const output_context& c) { context_ = c; }
  const output_context& context() const { return context_; }
  /// The writer of a trial; `make` gives a new one in the folder of the trial.
  template <class Make>
  Writer& of(trial_number t, const Make& make) {
    const auto at = writers_.find(t);
    return at != writers_.end() ? at->second : writers_.emplace(t, make(trial_folder(context_, t))).first->second;
  }
  /// Writes what is buffered. The file of a trial that has failed stays known, for the trial may be started again.
  void end(const trial_record& t) {
    const auto at = writers_.find(t.id);
    if (at == writers_.end()) return;
    at->second.flush();
    if (t.state != status::failed) writers_.erase(at);
  }
  void flush() {
    for (auto& [id, w] : writers_) w.flush();
  }

 private:
  output_context context_;
  std::map<trial_number, Writer> writers_;
};

/// Metrics as a row; with the trial's run time in front if `seconds` is not negative.
MANTA_DECL std::vector<output::field> row_of(const metrics& m, double seconds = -1);

}  // namespace detail

/// config.json and result.jsonl of each trial.
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

/// params.json and progress.csv of each trial, which are not among the outputs that an experiment has by itself: with
/// thousands of trials files are many. A metric that is reported for the first time makes a new column; what is
/// missing stays empty.
class csv {
 public:
  void begin(const output_context& c) { files_.begin(c); }
  MANTA_DECL void add(const trial_record& t);
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
