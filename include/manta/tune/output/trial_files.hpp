// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The files of one output: one writer of manta/output for each trial that has not ended.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/output/row.hpp"
#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune::detail {

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

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/output/trial_files.ipp"
#endif
