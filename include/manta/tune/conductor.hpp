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

  /// Ranks that run trials, or gangs of them.
  std::size_t places() const;

  void add_runner();

  // ---- giving out work -----------------------------------------------------------------------------

  /// First each place gets what has not failed there, or could not run elsewhere; then what is left.
  /// False if the study had nothing to give.
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

  /// The notices of a runner: of all members of a gang, the first one's says what happened.
  void hear(std::size_t i, future<answers> call);

  bool runs(trial_number t) const { return study_.trial(t).state == status::running; }

  void reply(std::size_t i, trial_number t, const answer& a, bool only_saved);

  void free(std::size_t i);

  void fail(std::size_t i, trial_number t, const std::string& why, cause c = cause::failure);
  void say(trial_number t, const std::string& what);

  /// The runner is gone, its process, or its rank: the trial goes on elsewhere from its checkpoint, if it may.
  void lost(std::size_t i, std::string why, cause c);
  std::string silence_text() const;

  void look_at_clock();

  // ---- checkpoints ----------------------------------------------------------------------------------

  void keep_checkpoint(std::size_t i, trial_number t, std::vector<notice>& all);
  /// Checkpoints of trials that have ended go; so does what else is known of them here. Failures are said.
  void release();
  /// Starts trials that waited for a checkpoint, if it has come or never will.
  void retry_deferred();

  // ---- the end --------------------------------------------------------------------------------------

  /// Has somebody still to answer?
  bool is_under_way() const;
  /// The run has to end: trials save where they are, and go on from there when the experiment is continued.
  [[noreturn]] void leave();

  /// After an exception: what was found is written out, and the report says why the run has ended.
  void close_outputs(const std::string& why);
  /// After an exception: trials end at their next report, for which it waits a while.
  void stop_trials();
  /// Nobody listens to this runner any more: it ends when its trial reports.
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
