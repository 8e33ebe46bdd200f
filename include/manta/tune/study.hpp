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

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/tune/course.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/study_log.hpp"

namespace manta::tune {

class study {
 public:
  /// Continues what the folder holds, if it is the same experiment. Rules, the number of trials and the like may have
  /// changed since: the experiment is what it would be if they had been so from the start. `function` names what is
  /// tuned: another one is noticed.
  MANTA_DECL study(const space& where, const experiment& e, const std::string& function = {});

  // ---- what happens -------------------------------------------------------------------------------

  /// A place is free: what runs there; nothing if there is nothing now. `now` is in seconds since the experiment began.
  /// Throws, once, what searcher, scheduler or a rule has thrown: the experiment stops, and what was found stays.
  MANTA_DECL std::optional<job> next(double now = 0);

  /// One report of a running trial. `iteration` counts its reports, those before a checkpoint that it continued from
  /// included; 0: one more than the last. `seconds` it has run.
  MANTA_DECL answer report(trial_number t, const metrics& m, double now = 0, std::uint64_t iteration = 0,
                           double seconds = 0);
  /// Notes that a trial has ended by itself.
  MANTA_DECL void ended(trial_number t, double now = 0);
  /// Notes that a trial threw or was lost; true if it will be tried again.
  MANTA_DECL bool failed(trial_number t, const std::string& why, double now = 0, cause c = cause::failure);
  /// Notes that a trial's checkpoint of that iteration is on disk; the next flush removes files that are
  /// no longer needed.
  MANTA_DECL void checkpointed(trial_number t, std::uint64_t iteration, const std::string& file, double now = 0);
  /// Notes that a trial continues from the present checkpoint of another trial, also if it has to begin again.
  MANTA_DECL void continues_from(trial_number t, trial_number source, double now = 0);
  /// Notes that a trial had to save its state and keeps none, as no trial of its function does. Returns a line for
  /// people; an empty one if that was known.
  MANTA_DECL std::string nothing_kept(trial_number t, double now = 0);
  /// Called once when no trial runs and none will: ends the paused trials.
  MANTA_DECL void finish(double now = 0);
  /// Notes for the report that this rank has a place for trials from now on, or no longer.
  MANTA_DECL void opened(int rank, double now = 0, const std::string& host = {});
  MANTA_DECL void closed(int rank, double now = 0);
  /// Notes for the report that a trial runs on this rank now.
  MANTA_DECL void placed(trial_number t, int rank, double now = 0);
  /// Notes a text that a trial tells about itself; of the same name the last one counts.
  MANTA_DECL void noted(trial_number t, const std::string& name, const std::string& text, double now = 0);
  /// Notes a file that belongs to a trial, by its path from the folder of the experiment.
  MANTA_DECL void attached(trial_number t, const std::string& file, double now = 0);
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

  const std::vector<trial_record>& trials() const { return course_.trials(); }
  const trial_record& trial(trial_number t) const { return course_.trials().at(t); }
  std::size_t running_count() const { return course_.running_ones().running_count(); }
  const overview& summary() const { return course_.ranks().summary(); }
  /// Why it stops before all trials have been run; empty if it does not.
  const std::string& stopping() const { return course_.stop().text(); }
  /// Why it ended, whatever it was: all trials have run, there is nothing more to try, or what stopped it.
  MANTA_DECL std::string ended_because() const;
  /// Whether it stops for a mistake that must be corrected: a searcher, a scheduler or a rule has thrown, or no trial
  /// reports the metric of a rule.
  bool is_broken() const { return course_.stop().is_mistake(); }
  bool finished() const { return course_.is_finished(); }
  double elapsed_before() const { return clock_; }  ///< seconds of earlier runs that the journal tells of
  /// The objectives; the first one is what schedulers look at.
  const std::vector<objective>& objectives() const { return course_.ranks().objectives(); }
  const std::vector<bound>& limits() const { return course_.ranks().limits(); }
  const std::string& metric() const { return course_.ranks().metric(); }
  bool maximised() const { return course_.ranks().maximises(); }
  const experiment& options() const { return course_.options(); }
  std::size_t trial_limit() const { return course_.limit(); }
  /// The metric of a loss.
  double metric_of(double loss) const { return course_.ranks().flipped(loss); }
  /// Lines for people about options that do not fit each other and about what is known from elsewhere, before the first
  /// trial, or about options that do not fit what happened, after the last one.
  MANTA_DECL std::vector<std::string> remarks() const;
  /// A line for people about what the folder held, and what has changed; empty if it held nothing.
  const std::string& continued() const { return continued_; }
  /// The trial with the best value of the first objective, of those that keep the constraints and have not failed (see
  /// .best_may_fail); null if there is none.
  MANTA_DECL const trial_record* best() const;
  /// The trials that have ended since the last call.
  std::vector<trial_number> take_released() { return std::exchange(released_, {}); }
  /// Lines for people since the last call.
  std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }
  /// Whether a trial may still continue from its checkpoint.
  bool needs_checkpoint(trial_number t) const { return !trial(t).ended(); }

 private:
  /// Takes the trials that have ended, and calls .after_trial.
  void announce();

  detail::course course_;
  detail::study_log log_;
  std::vector<trial_number> released_;
  std::vector<std::string> lines_;
  bool has_repeated_ = false;  ///< it has been said that configurations come again
  std::string continued_;
  double clock_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/study.ipp"
#endif
