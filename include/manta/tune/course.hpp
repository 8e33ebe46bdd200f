// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The course of an experiment: its trials, and what each event does to them. A study tells it what happens now, and a
// continuation what happened in an earlier run of the program; the same events lead to the same state.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/tune/checkpoint_store.hpp"
#include "manta/tune/experiment.hpp"
#include "manta/tune/proposals.hpp"
#include "manta/tune/ranking.hpp"
#include "manta/tune/rules.hpp"
#include "manta/tune/scheduling.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/stop_reason.hpp"
#include "manta/tune/study_outputs.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune {

/// The trial for a free place.
struct job {
  trial_number trial = 0;
  config parameters;
  std::uint64_t iteration = 0;       ///< iteration of the last report seen, for a trial that goes on
  std::optional<trial_number> from;  ///< go on from the last checkpoint of this trial; none: from the beginning
  double silent_until = 0;           ///< reports before it need no answer
};

/// The instruction to a trial after a report.
struct answer {
  verdict::kind what = verdict::kind::go_on;
  bool save = false;                   ///< make a checkpoint now
  std::optional<exploit> change = {};  ///< end here and begin again as this
  double silent_until = 0;
};

namespace detail {

class course {
 public:
  /// The journal's record of a trial that was given to a place.
  struct told {
    trial_number trial;
    const config& parameters;
  };

  /// Throws if the options contradict each other or do not fit the space. Writes no file.
  MANTA_DECL course(const space& where, const experiment& e);
  /// `wall`: seconds since 1970 at which this run of the program begins.
  MANTA_DECL void begin_outputs(double wall);

  // ---- what happens; `now` is in seconds since the experiment began --------------------------------

  /// Chooses a trial for a free place. For a new trial it sets `from`. With `by_journal` it takes the trial that the
  /// journal names, and `from` is what the journal says about it.
  MANTA_DECL std::optional<job> next(double now, origin& from, const told* by_journal = nullptr);
  /// Notes that an earlier run had nothing to start here.
  MANTA_DECL void start_none(double now);
  MANTA_DECL answer report(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds);
  MANTA_DECL void end(trial_number t, double now);
  /// Notes a failure of a trial; true if it will be tried again.
  MANTA_DECL bool fail(trial_number t, const std::string& why, double now, cause c);
  /// Notes that a failed trial will be tried again.
  MANTA_DECL void revive(trial_number t);
  MANTA_DECL void place(trial_number t, int rank, double now);
  MANTA_DECL void tick(double now);
  MANTA_DECL void finish(double now);
  /// Sets another number of trials than begin has set.
  MANTA_DECL void resize(std::size_t limit);
  /// Sets the time, in seconds since 1970, of second 0 of the experiment.
  void set_wall_offset(double seconds) { wall_offset_ = seconds; }

  // ---- what is known -------------------------------------------------------------------------------

  const experiment& options() const { return options_; }
  const space& where() const { return space_; }
  const std::vector<trial_record>& trials() const { return records_; }
  trial_record& trial(trial_number t) { return records_.at(t); }
  /// The record of a running trial. Throws if the trial does not run.
  MANTA_DECL trial_record& running(trial_number t);
  const rules& running_ones() const { return rules_; }  ///< Which trials run, and the rules that end them.
  std::size_t limit() const { return limit_; }
  double wall_offset() const { return wall_offset_; }
  bool is_finished() const { return finished_; }
  /// Why the searcher has nothing more to give; empty if it may have.
  const std::string& exhausted() const { return exhausted_; }
  /// The time before which reports of the trial need no answer.
  MANTA_DECL double silent_until(trial_number t);
  /// Takes the trials that have ended since the last call.
  std::vector<trial_number> take_released() { return std::exchange(released_, {}); }

  const ranking& ranks() const { return ranking_; }
  stop_reason& stop() { return stop_; }
  const stop_reason& stop() const { return stop_; }
  const std::string& learned() const { return proposals_.learned(); }
  checkpoint_store& checkpoints() { return checkpoints_; }
  study_outputs& outputs() { return outputs_; }
  detail::scheduling& schedule() { return scheduling_; }
  const detail::scheduling& schedule() const { return scheduling_; }
  void trim_checkpoints() { checkpoints_.trim(records_, ranking_.best()); }

 private:
  /// Adds a new trial; null if there is none.
  trial_record* add_trial(double now, origin& from, const told* by_journal);
  job start(trial_record& r, double now, std::optional<exploit> change, const std::string& why);
  /// Makes the trial continue as the exploit says.
  void apply(trial_record& r, const exploit& e, job& j);
  /// Notes that the trial does not run any more.
  void leave(trial_record& r, double now);

  answer refuse(trial_record& r, const std::string& why, double now);
  void take_losses(trial_record& r, const metrics& m);
  /// Asks the rules and the scheduler about a report.
  answer judge(trial_record& r, double now);
  answer obey(trial_record& r, verdict v, double now);

  /// Ends a trial that the scheduler has let go.
  void close(trial_record& r, status how, const std::string& why, double now);
  /// Ends a trial that the scheduler knows, and tells the scheduler.
  void withdraw(trial_record& r, status how, const std::string& why, double now);
  void release_dropped(double now);

  experiment options_;
  space space_;
  ranking ranking_;
  proposals proposals_;
  stop_reason stop_;
  scheduling scheduling_{stop_};
  rules rules_;
  checkpoint_store checkpoints_;
  study_outputs outputs_;
  std::size_t limit_ = 0;
  std::string exhausted_;
  bool finished_ = false;
  double wall_offset_ = 0;  ///< seconds since 1970 at second 0 of the experiment, counted from the last start

  std::vector<trial_record> records_;
  std::vector<trial_number> again_, released_;
};

}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/course.ipp"
#endif
