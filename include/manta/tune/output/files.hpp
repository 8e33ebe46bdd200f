// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of each trial, and the log of decisions:
//   trials/00012/config.json     the configuration
//   trials/00012/result.jsonl    a line of JSON for each report
//   trials/00012/progress.csv    a row for each report
//   decisions.jsonl              what scheduler and rules decided, and why
#pragma once

#include <map>

#include "manta/tune/append_file.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// config.json and result.jsonl of each trial.
class json_lines {
 public:
  void begin(const output_context& c) { context_ = c; }
  MANTA_DECL void add(const trial_record& t);
  MANTA_DECL void report(const trial_record& t, const metrics& m, double seconds);
  MANTA_DECL void end(const trial_record& t);
  MANTA_DECL void flush();

 private:
  output_context context_;
  std::map<trial_number, append_file> files_;
};

/// progress.csv of each trial. The columns are the metrics of the first report; others, and what is missing later, stay out.
class csv {
 public:
  void begin(const output_context& c) { context_ = c; }
  MANTA_DECL void report(const trial_record& t, const metrics& m, double seconds);
  MANTA_DECL void end(const trial_record& t);
  MANTA_DECL void flush();

  /// A text as one cell: in quotes if it has to be.
  MANTA_DECL static void append_cell(std::string& out, std::string_view text);

 private:
  struct sheet {
    append_file file;
    std::vector<std::string> columns;
  };
  output_context context_;
  std::map<trial_number, sheet> files_;
};

/// decisions.jsonl of the experiment.
class decision_log {
 public:
  MANTA_DECL void begin(const output_context& c);
  MANTA_DECL void decision(const trial_record& t, std::string_view what, std::string_view why);
  void flush() { file_.flush(); }
  void finish(const std::vector<trial_record>&) { file_.flush(); }

 private:
  append_file file_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/files.ipp"
#endif
