// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The files of one output: one file for each trial that has not ended.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/output/append_file.hpp"
#include "manta/tune/output/output.hpp"

namespace manta::tune::detail {

class trial_files {
 public:
  struct sheet {
    manta::output::append_file file;
    std::vector<std::string> columns;  ///< of a table
  };

  /// `name`: of the file in the folder of the trial.
  explicit trial_files(const char* name) : name_(name) {}

  void begin(const output_context& c) { context_ = c; }
  const output_context& context() const { return context_; }
  /// The file of a trial, and whether it is a new one; its folder is made if need be.
  MANTA_DECL std::pair<sheet*, bool> of(trial_number t);
  /// Writes what is buffered. The file of a trial that has failed stays known, for the trial may be started again.
  MANTA_DECL void end(const trial_record& t);
  MANTA_DECL void flush();

 private:
  const char* name_;
  output_context context_;
  std::map<trial_number, sheet> sheets_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/output/trial_files.ipp"
#endif
