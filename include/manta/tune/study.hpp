// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The mind of an experiment, without ranks and clocks: it is told what happens
// and says what to do. tune::run drives it with trials on ranks; a program of its
// own kind may drive it by hand (ask and tell):
//
//   tune::study s(space, {.minimise = "loss", .trials = 50, .searcher = tune::tpe()});
//   while (auto job = s.next()) {
//     s.report(job->trial, {{"loss", f(job->parameters)}});
//     s.ended(job->trial);
//   }
//   const auto& best = *s.best();
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <unordered_map>

#include "manta/tune/checkpoint_files.hpp"
#include "manta/tune/experiment.hpp"
#include "manta/tune/journal.hpp"
#include "manta/tune/points.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// What is to run in a free place.
struct job {
  trial_number trial = 0;
  config parameters;
  std::uint64_t iteration = 0;        ///< of the last report seen, for a trial that goes on
  std::optional<trial_number> from;   ///< go on from the last checkpoint of this trial; none: from the beginning
  double silent_until = 0;            ///< reports before it need no answer
};

/// What a trial is to do after a report.
struct answer {
  verdict::kind what = verdict::kind::go_on;
  bool save = false;                  ///< make a checkpoint now
  std::optional<exploit> change = {}; ///< end here and begin again as this
  double silent_until = 0;
};

class study {
 public:
  /// Continues what the folder holds, if it is the same experiment. Rules, the number of trials and the like may have changed since: the
  /// experiment is what it would be if they had been so from the start. `function` names what is tuned: another one is noticed.
  MANTA_DECL study(const space& where, const experiment& e, const std::string& function = {});

  // ---- what happens -------------------------------------------------------------------------------

  /// A place is free: what runs there; nothing if there is nothing now. `now` is in seconds since the experiment began.
  /// Throws, once, what searcher, scheduler or a rule has thrown: the experiment stops, and what was found stays.
  MANTA_DECL std::optional<job> next(double now = 0);

  /// One report of a running trial. `iteration` counts its reports, those before a checkpoint that it continued from
  /// included; 0: one more than the last. `seconds` it has run.
  MANTA_DECL answer report(trial_number t, const metrics& m, double now = 0, std::uint64_t iteration = 0, double seconds = 0);
  /// The trial has come to its end by itself.
  MANTA_DECL void ended(trial_number t, double now = 0);
  /// It threw, or was lost. True: it will be tried again.
  MANTA_DECL bool failed(trial_number t, const std::string& why, double now = 0, cause c = cause::failure);
  /// Its checkpoint of that iteration is on disk; at the next flush files go that are not needed any more.
  MANTA_DECL void checkpointed(trial_number t, std::uint64_t iteration, const std::string& file, double now = 0);
  /// It goes on from the last checkpoint that the other one has now, and would do so again.
  MANTA_DECL void continues_from(trial_number t, trial_number source, double now = 0);
  /// Nothing runs and nothing will: trials that are paused end here. To be called once.
  MANTA_DECL void finish(double now = 0);
  /// There is a place for trials on this rank from now on, or no longer: for the report.
  MANTA_DECL void opened(int rank, double now = 0);
  MANTA_DECL void closed(int rank, double now = 0);
  /// The trial that was given out runs on this rank now: for the report.
  MANTA_DECL void placed(trial_number t, int rank, double now = 0);
  /// So late it is, though nothing has happened: rules that look at the clock may stop the experiment.
  MANTA_DECL void tick(double now);
  /// No more trials are started, and those that run stop at their next report.
  MANTA_DECL void stop_all(const std::string& why);
  /// Writes out what is buffered. To be called when there is nothing else to do, and at least every second or so.
  MANTA_DECL void flush();
  MANTA_DECL void flush_outputs();
  /// Nothing more will happen in this run: what people look at says why. Part of finish().
  MANTA_DECL void finish_outputs(const std::string& why);

  // ---- what is known -------------------------------------------------------------------------------

  const std::vector<trial_record>& trials() const { return records_; }
  const trial_record& trial(trial_number t) const { return records_.at(t); }
  std::size_t running_count() const { return running_.size(); }
  std::size_t ended_count() const { return overview_.ended; }
  const overview& summary() const { return overview_; }
  /// Why it stops before all trials have been run; empty if it does not.
  const std::string& stopping() const { return stopping_; }
  /// It stops for something that is to be mended: searcher, scheduler or a rule threw, or a rule's metric is reported by nobody.
  bool is_broken() const { return is_broken_; }
  bool finished() const { return finished_; }
  double elapsed_before() const { return clock_; }  ///< seconds of earlier runs that the journal tells of
  const std::string& metric() const { return metric_; }
  bool maximised() const { return sign_ < 0; }
  const experiment& options() const { return options_; }
  std::size_t trial_limit() const { return limit_; }
  /// The metric of a loss.
  double metric_of(double loss) const { return sign_ * loss; }
  /// A line for people about what the folder held, and what has changed; empty if it held nothing.
  const std::string& continued() const { return continued_; }
  /// The trial with the best value that was reported, of those that have not failed (see .best_may_fail); null if there is none.
  const trial_record* best() const { return best_ == none ? nullptr : &records_[best_]; }
  /// Trials that were taken off since the last call: paused ones whose checkpoints nobody needs.
  std::vector<trial_number> take_released() { return std::exchange(released_, {}); }
  /// May others still continue from its checkpoint?
  bool needs_checkpoint(trial_number t) const { return !records_[t].ended(); }

 private:
  static constexpr trial_number none = ~trial_number{0};

  /// Where the configuration of a new trial came from.
  struct origin {
    bool is_first = false;    ///< .first
    bool is_instead = false;  ///< of what the searcher had, which had been run already
    std::size_t asks = 1;     ///< of the searcher
  };

  // ---- before the first trial ------------------------------------------------------------------------

  void check_options();
  /// Draws from the space, so that functions in it that throw do so now, and conditions that never hold are found.
  void try_space() const;
  void complete_first();
  std::size_t limit();
  /// The beginning of what the journal says of a trial.
  std::string& line(trial_number t);
  void log_file(std::string_view kind, trial_number t, std::uint64_t iteration, const std::string& file, double now);
  void log_trial(std::string_view kind, trial_number t, double now);
  void log_place(std::string_view kind, int rank, double now);
  trial_record& running(trial_number t);
  void decide(const trial_record& r, std::string_view what, std::string_view why);

  // ---- the same for what happens and for what the journal tells ---------------------------------------

  /// `said`: the configuration that the journal has for it, and `from` what it says of that.
  std::optional<job> next_of(double now, const config* said, std::optional<trial_number> trial = {}, const origin* from = nullptr);
  /// Else the scheduler is at fault, and the experiment stops.
  bool may_resume(trial_number t);
  std::optional<config> new_parameters(trial_number t);
  void repeat_ask(trial_number t, const config& said, const origin& from);

  /// Calls searcher, scheduler or a rule. If it throws, the experiment stops, and none of them is called again.
  template <class Call>
  auto guarded(const char* who, Call call) -> decltype(call()) {
    using result = decltype(call());
    if (thrown_) return result();
    try {
      return call();
    } catch (...) {
      thrown_ = std::current_exception();
      break_off(who);
    }
    return result();
  }
  void break_off(const char* who);
  /// A rule looks at a metric that nobody has reported, though this trial has come so far.
  void miss_metrics(const trial_record& r);

  job start(trial_record& r, double now, std::optional<exploit> change, const std::string& why);
  void opened_of(int rank, double now);
  void closed_of(int rank, double now);
  /// Places of an earlier run of the program.
  void close_places(double now);
  void placed_of(trial_number t, int rank, double now);
  /// It runs no more.
  void leave(trial_record& r, double now);
  void apply(trial_record& r, const exploit& e, job& j);

  answer report_of(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds);

  void ended_of(trial_number t, double now);

  bool failed_of(trial_number t, const std::string& why, double now, cause c);

  void check_stop_all();
  bool may_be_best(const trial_record& r) const { return is_finite(r.best_loss) && (r.state != status::failed || options_.best_may_fail); }
  /// Anew, when the one that was best has failed, or when one that had failed is tried again.
  void find_best();

  void leave_scheduler(trial_number t);
  /// A failure for good.
  void give_up(trial_record& r, const std::string& why, double now);

  void close(trial_record& r, status how, const std::string& why, double now);

  void release_dropped(double now);

  void finish_of(double now);

  double silence_of(trial_number t);

  // ---- checkpoints on disk -------------------------------------------------------------------------

  /// What the trial would go on from.
  void set_checkpoint(trial_record& r, std::uint64_t iteration, const std::string& file);
  void checkpointed_of(trial_number t, std::uint64_t iteration, const std::string& file);
  void score_checkpoint(trial_record& r);
  void note_best_checkpoint(trial_record& r);
  void trim_checkpoints();
  /// A gang has a file for each member.
  std::string path_of(const std::string& file, int member) const;
  void remove_checkpoint(const std::string& file) const;
  /// 0: it is not there.
  std::size_t size_of(const std::string& file) const;
  /// Those that were written just before a kill, and that the journal does not know.
  void remove_unknown_checkpoints() const;

  // ---- continuing ----------------------------------------------------------------------------------

  void continue_from_journal();
  void check_identity(const journal::event& e);
  /// True: what the event tells does not happen under the present rules.
  bool passes_over(const journal::event& e);
  void replay(const journal::event& e);
  void replay_next(const journal::event& e);
  void describe_continuation(std::size_t passed_over);
  void revive(trial_number t);

  experiment options_;
  space space_;
  std::string metric_;
  double sign_ = 1;
  any_searcher searcher_;
  any_scheduler scheduler_;
  std::size_t limit_ = 0;
  bool exhausted_ = false, finished_ = false, quiet_ = false;
  std::string stopping_;
  double clock_ = 0;
  double wall_offset_ = 0;            ///< seconds since 1970 at second 0 of the experiment, counted from the last start

  std::vector<trial_record> records_;
  std::unordered_map<trial_number, std::vector<stop_rule>> running_;
  std::vector<trial_number> again_, released_;
  std::unordered_map<trial_number, std::uint64_t> owed_;  ///< checkpoints that were asked for, by iteration, and are not on disk
  trial_number best_ = none;
  overview overview_;
  checkpoint_files files_;
  std::vector<any_output> outputs_;
  std::vector<int> places_;           ///< ranks on which trials may run
  journal log_;
  std::string line_, function_, other_function_, continued_;
  std::vector<config> first_;         ///< .first, completed
  std::size_t from_first_ = 0;        ///< of these, that have been given out
  origin origin_;                     ///< of the newest trial
  detail::points points_;             ///< of a finite space, that have been given out
  std::vector<std::string> unreported_;  ///< metrics that rules look at and nobody has reported
  std::exception_ptr thrown_;
  bool is_broken_ = false, is_thrown_ = false;  ///< is_thrown_: to the caller
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/study.ipp"
#include "manta/tune/study_check.ipp"
#include "manta/tune/study_checkpoints.ipp"
#include "manta/tune/study_course.ipp"
#include "manta/tune/study_journal.ipp"
#endif
