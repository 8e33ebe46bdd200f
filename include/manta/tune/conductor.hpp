// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Drives the study of an experiment with runners on ranks: gives out trials,
// hears what they report, answers. It keeps the newest checkpoint of each trial as
// a future, so their bytes go from the rank that made them to the one that goes on.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "manta/tune/output/table.hpp"
#include "manta/tune/runner.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune::detail {

/// Drives a study with runners. Every runner that is placed has at any time one call under way, or is idle.
class conductor {
 public:
  conductor(study& s, body_name what, bool gang);

  void run();

 private:
  using clock = std::chrono::steady_clock;

  struct place {
    std::unique_ptr<runner_handle> who;
    future<int> greeting;
    future<void> work;
    future<answers> call;  ///< under way
    bool placed = false, idle = false, gone = false;
    bool has_begun = false;  ///< the trial: it has answered
    int rank = -1;           ///< of a gang: its first
    std::optional<trial_number> trial;
    clock::time_point heard;
  };
  struct saved {
    std::vector<future<checkpoint>> parts;
  };

  double now() const;

  /// Number of ranks, or gangs of ranks, that run trials.
  std::size_t places() const;

  void add_runner();

  // ---- giving out work -----------------------------------------------------------------------------

  /// Gives each place a trial: first one that has not failed there, or that cannot run elsewhere; then any other. False
  /// if the study had nothing to give.
  bool assign_all();
  void assign(std::size_t i, bool anywhere, bool& may_ask);
  bool ask();
  bool has_failed_at(trial_number t, std::size_t i) const;

  order begin_order(const job& j, bool change);
  void begin(std::size_t i, const job& j, bool change);
  void tell(std::size_t i, order o);

  // ---- hearing --------------------------------------------------------------------------------------

  void wait_and_handle();

  void greet();

  /// Handles the notices of a runner; of a gang, the first member's notice says what happened.
  void hear(std::size_t i, future<answers> call);

  bool runs(trial_number t) const { return study_.trial(t).state == status::running; }

  void reply(std::size_t i, trial_number t, const answer& a, bool only_saved);

  void free(std::size_t i);

  void fail(std::size_t i, trial_number t, const std::string& why, cause c = cause::failure);
  void say(trial_number t, const std::string& what);

  /// Handles the loss of a runner, by its process or its rank: the trial continues elsewhere from its checkpoint, if it
  /// may.
  void lost(std::size_t i, std::string why, cause c);
  std::string silence_text() const;

  void look_at_clock();

  // ---- checkpoints ----------------------------------------------------------------------------------

  void keep_checkpoint(std::size_t i, trial_number t, std::vector<notice>& all);
  /// Releases the checkpoints, and the other data here, of trials that have ended, and prints failures.
  void release();
  /// Starts trials that waited for a checkpoint, when it has arrived or never will.
  void retry_deferred();

  // ---- the end --------------------------------------------------------------------------------------

  /// Whether a runner still has to answer.
  bool is_under_way() const;
  /// Called when the run has to end: trials save their states, from which they continue when the experiment does.
  [[noreturn]] void leave();

  /// Called after an exception: writes the results, with the reason for the end in the report.
  void close_outputs(const std::string& why);
  /// Called after an exception: makes trials end at their next report, and waits a while for that.
  void stop_trials();
  /// Gives a runner up: it ends when its trial reports.
  void abandon(place& p);
  void end_runners();

  study& study_;
  const experiment& options_;
  body_name what_;
  bool gang_;
  double before_;
  clock::time_point start_ = clock::now(), flushed_ = start_;
  status_table table_;
  std::vector<place> places_;
  std::map<trial_number, saved> saved_;
  std::set<trial_number> awaited_;  ///< told to save; the checkpoint has not come
  std::vector<job> deferred_, ready_;
  std::vector<std::pair<std::size_t, job>> held_;
  std::map<trial_number, double> last_silence_;
  std::map<trial_number, int> failed_at_;  ///< the rank where it did so last
  bool leaving_ = false;
  int unplaced_ = 0;  ///< runners in a row that were lost before they said where they are
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/conductor.ipp"
#include "manta/tune/conductor_hearing.ipp"
#endif
