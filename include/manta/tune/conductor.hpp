// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Drives the study of an experiment with runners on ranks: gives out trials,
// hears what they report, answers. It keeps the newest checkpoint of each trial as
// a future, so their bytes go from the rank that made them to the one that goes on.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "manta/tune/jobs.hpp"
#include "manta/tune/output/table.hpp"
#include "manta/tune/places.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune::detail {

/// Drives a study with runners.
class conductor {
 public:
  conductor(study& s, body_name what, bool gang);

  void run();

 private:
  struct saved {
    std::vector<future<checkpoint>> parts;
  };

  double now() const;

  // ---- giving out work -----------------------------------------------------------------------------

  /// Gives each place a trial: first one that has not failed there, or that cannot run elsewhere; then any other. False
  /// if the study had nothing to give.
  bool assign_all();
  void assign(std::size_t i, bool anywhere, bool& may_ask);
  bool ask();
  bool has_failed_at(trial_number t, std::size_t i);

  order begin_order(const job& j, bool change);
  void begin(std::size_t i, const job& j, bool change);

  // ---- hearing --------------------------------------------------------------------------------------

  void wait_and_handle();

  void greet();

  /// Handles the notices of a runner; of a gang, the first member's notice says what happened.
  void hear(std::size_t i, future<answers> call);
  /// Tells the study of the files and the texts that a trial has left.
  void pass_remarks(trial_number t, const notice& n);

  bool runs(trial_number t) const { return study_.trial(t).state == status::running; }

  void reply(std::size_t i, trial_number t, const answer& a, bool only_saved);

  void free(std::size_t i);

  void fail(std::size_t i, trial_number t, const std::string& why, cause c = cause::failure);
  void say(trial_number t, const std::string& what);

  /// Handles the loss of a runner, by its process or its rank: the trial continues elsewhere
  /// from its checkpoint, if it may.
  void lost(std::size_t i, std::string why, cause c);
  std::string silence_text() const;

  void look_at_clock();

  // ---- checkpoints ----------------------------------------------------------------------------------

  void keep_checkpoint(std::size_t i, trial_number t, std::vector<notice>& all);
  /// Releases the checkpoints, and the other data here, of trials that have ended, and prints failures.
  void release();
  /// Begins trials whose checkpoint has arrived or never will, where they are already.
  void begin_held();

  // ---- the end --------------------------------------------------------------------------------------

  /// Called when the run has to end: trials save their states, from which they continue when the experiment does.
  [[noreturn]] void leave();

  /// Called after an exception: writes the results, with the reason for the end in the report.
  void close_outputs(const std::string& why);

  study& study_;
  const experiment& options_;
  double before_;
  place::clock::time_point start_ = place::clock::now(), flushed_ = start_;
  status_table table_;
  places places_;
  jobs jobs_;
  std::map<trial_number, saved> saved_;
  std::map<trial_number, double> last_silence_;
  std::map<trial_number, int> failed_at_;  ///< the rank where it did so last
  bool leaving_ = false;
  int unplaced_ = 0;  ///< runners in a row that were lost before they said where they are
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/conductor.ipp"
#endif
