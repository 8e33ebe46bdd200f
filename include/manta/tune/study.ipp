// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of study.hpp: what happens is written to the journal, then it takes its course.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/tune/continuation.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL study::study(const space& where, const experiment& e, const std::string& function) : course_(where, e) {
  if (function.empty() && e.repeats > 1) {
    throw error(
        "manta: tune: .repeats is for tune::run; a program that asks and tells runs a configuration as often as it "
        "likes, and reports tune::mean_of(runs)");
  }
  const std::string& folder = options().folder;
  if (folder.empty()) return;
  manta::output::make_folders(folder);
  if (options().fresh && ::unlink((folder + "/journal.jsonl").c_str()) != 0 && errno != ENOENT) {
    throw error("manta: tune: cannot remove the journal of " + folder);
  }
  course_.begin_outputs(output::wall_time());
  detail::continuation earlier(course_, log_, function);
  earlier.run();
  clock_ = earlier.clock();
  continued_ = earlier.summary();
  (void)course_.take_released();  // earlier runs have told of them
}

MANTA_DECL std::optional<job> study::next(double now) {
  detail::origin from;
  auto j = course_.next(now, from);
  announce();
  if (!j) course_.stop().throw_once();
  if (j) {
    log_.next(j->trial, j->parameters, from, now);
  } else {
    log_.none(now, course_.stop().is_set());
  }
  if (j && from.is_again && !std::exchange(has_repeated_, true)) {
    lines_.push_back(
        base::text("all configurations of the space have been tried: from trial {} on they come again; "
                   ".stop_all = {tune::nothing_new()} ends the search there",
                   j->trial));
  }
  return j;
}

MANTA_DECL answer study::report(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
  const trial_record& r = course_.running(t);
  if (iteration == 0) iteration = r.iteration + 1;
  seconds = std::floor(seconds * 1e6) / 1e6;  // as the journal has it
  if (iteration <= r.iteration) {             // it comes by again after a failure, from an older checkpoint
    return {verdict::kind::go_on, course_.checkpoints().owed(t) == iteration, {}, course_.silent_until(t)};
  }
  log_.report(t, m, iteration, seconds, now);
  answer a = course_.report(t, m, now, iteration, seconds);
  announce();
  return a;
}

MANTA_DECL void study::ended(trial_number t, double now) {
  log_.trial("end", t, now);
  course_.end(t, now);
  announce();
}

MANTA_DECL bool study::failed(trial_number t, const std::string& why, double now, cause c) {
  log_.fail(t, c, why, now);
  const bool again = course_.fail(t, why, now, c);
  announce();
  return again;
}

MANTA_DECL void study::announce() {
  const std::vector<trial_number> ended = course_.take_released();
  released_.insert(released_.end(), ended.begin(), ended.end());
  if (!options().after_trial) return;
  for (const trial_number t : ended) course_.stop().guarded(".after_trial", [&] { options().after_trial(trial(t)); });
}

namespace detail {
/// Whether no run of a trial has reported another value of the metric than the other runs.
inline bool are_all_equal(const std::vector<trial_record>& trials, const std::string& metric) {
  const std::string error = standard_error_of(metric);
  const auto is_zero = [&](const trial_record& t) { return t.last.find(error) != nullptr && t.last[error] == 0; };
  return !trials.empty() && std::all_of(trials.begin(), trials.end(), is_zero);
}
}  // namespace detail

MANTA_DECL std::vector<std::string> study::remarks() const {
  std::vector<std::string> all;
  const std::string scheduler = course_.schedule().remark(trials());
  if (!scheduler.empty()) all.push_back(scheduler);
  if (options().repeats > 1 && detail::are_all_equal(trials(), metric())) {
    all.push_back(
        base::text("the {} runs of each trial have reported the same: take random numbers from trial.seed(), or, in a "
                   "class, from what repeat(int) is told; else leave out .repeats",
                   options().repeats));
  }
  if (!trials().empty()) return all;
  if (objectives().size() > 1 && course_.schedule().stops_trials())
    all.push_back(base::text("the scheduler compares trials by \"{}\", the first of the objectives", metric()));
  if (!course_.learned().empty()) all.push_back(course_.learned());
  return all;
}

MANTA_DECL void study::checkpointed(trial_number t, std::uint64_t iteration, const std::string& file, double now) {
  log_.file("save", t, iteration, file, now);
  course_.checkpoints().made(course_.trial(t), iteration, file);
}

MANTA_DECL void study::continues_from(trial_number t, trial_number source, double now) {
  const trial_record& from = trial(source);
  if (t == source || !course_.checkpoints().contains(from.checkpoint_file) ||
      from.checkpoint_file == trial(t).checkpoint_file)
    return;
  log_.file("from", t, from.checkpoint, from.checkpoint_file, now);
  course_.checkpoints().set(course_.trial(t), from.checkpoint, from.checkpoint_file);
}

MANTA_DECL std::string study::nothing_kept(trial_number t, double now) {
  if (course_.schedule().keeps_nothing()) return {};
  log_.trial("unkept", t, now);
  course_.checkpoints().forgive(t);
  return base::text(
      "trial {} keeps no state: {}; call trial.keep(model) before the first report, or give the class save() "
      "and load()",
      t, course_.schedule().nothing_kept());
}

MANTA_DECL void study::finish(double now) {
  if (!finished()) {
    log_.finish(now, stopping());  // a later start that has no reason to stop there goes on
    course_.finish(now);
    announce();
  }
  flush();
  finish_outputs(ended_because());
}

MANTA_DECL void study::finish_outputs(const std::string& why) { course_.outputs().finish(trials(), why); }

MANTA_DECL std::string study::ended_because() const {
  if (!stopping().empty()) return stopping();
  return course_.exhausted().empty() ? "all trials have run" : course_.exhausted();
}

MANTA_DECL void study::opened(int rank, double now, const std::string& host) {
  log_.open_rank(rank, host, now);
  course_.outputs().opened(rank, host, now);
}

MANTA_DECL void study::closed(int rank, double now) {
  log_.close_rank(rank, now);
  course_.outputs().closed(rank, now);
}

MANTA_DECL void study::noted(trial_number t, const std::string& name, const std::string& text, double now) {
  log_.note("note", t, name, text, now);
  course_.trial(t).notes.set(name, text);
}

MANTA_DECL void study::attached(trial_number t, const std::string& file, double now) {
  std::vector<std::string>& files = course_.trial(t).files;
  if (std::find(files.begin(), files.end(), file) != files.end()) return;  // the file was written anew
  log_.note("attach", t, file, "", now);
  files.push_back(file);
}

MANTA_DECL void study::placed(trial_number t, int rank, double now) {
  log_.place(t, rank, now);
  course_.place(t, rank, now);
}

MANTA_DECL void study::tick(double now) {
  if (!stopping().empty()) return;
  course_.tick(now);
  if (!stopping().empty()) log_.tick(now);
}

MANTA_DECL void study::stop_all(const std::string& why) { course_.stop().set(why); }

MANTA_DECL void study::flush() {
  if (!log_.is_open()) return;
  log_.flush();
  course_.trim_checkpoints();  // what is written does not name them as what somebody goes on from
}

MANTA_DECL void study::flush_outputs() { course_.outputs().flush(trials()); }

MANTA_DECL const trial_record* study::best() const {
  const trial_number best = course_.ranks().best();
  return best == detail::ranking::none ? nullptr : &trial(best);
}

}  // namespace manta::tune
