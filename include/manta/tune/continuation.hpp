// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a study goes on with what its folder holds: the lines of the journal are done again, with the options of now.
// Rules, the number of trials and the like may have changed since; the experiment is then what it would be if they had
// been so from the start.
#pragma once

#include <string>

#include "manta/tune/course.hpp"
#include "manta/tune/journal.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/study_log.hpp"

namespace manta::tune::detail {

class continuation {
 public:
  /// `function` names what is tuned.
  continuation(course& c, study_log& log, const std::string& function) : course_(c), log_(log), function_(function) {}

  /// Reads the journal of the folder, or begins one. Throws if the folder holds another experiment, or if scheduler or
  /// rules have changed so that what they decided does not fit any more.
  MANTA_DECL void run();
  /// Seconds of the experiment that earlier runs took.
  double clock() const { return clock_; }
  /// A line for people about what the folder held, and what has changed; empty if it held nothing.
  const std::string& summary() const { return summary_; }

 private:
  void read(const journal::event& e);
  void check_identity(const journal::event& e);
  std::string identity() const;
  /// Whether the event cannot happen under the present rules and is skipped.
  bool passes_over(const journal::event& e) const;
  void replay(const journal::event& e);
  void replay_next(const journal::event& e);
  void describe();
  /// Called after the last line: starts the unfinished trials again, and all others that the present options allow.
  void go_on(std::size_t wanted, double wall);
  void check_checkpoints();

  course& course_;
  study_log& log_;
  const std::string& function_;
  double clock_ = 0;
  std::string summary_, other_function_;
  bool is_empty_ = true;  ///< no line has been read
  bool was_finished_ = false;
  std::string ended_because_;  ///< what stopped the experiment, if it was finished
  std::size_t passed_over_ = 0;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/continuation.ipp"
#endif
