// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/tune/course.hpp"
#include "manta/tune/experiment_check.hpp"

namespace manta::tune::detail {

MANTA_DECL course::course(const space& where, const experiment& e) : options_(e), space_(where) {
  check(options_);
  // A trial may change the working directory.
  if (!options_.folder.empty()) options_.folder = std::filesystem::absolute(options_.folder).lexically_normal();
  ranking_.begin(options_);
  rules_.begin(options_);
  for (const constraint& c : options_.subject_to) {
    if (!c.is_bound()) space_.forbid(c.test());
  }
  try_space(space_, options_.seed);
  proposals_.begin(space_, options_);
  limit_ = proposals_.limit(options_.trials);
  scheduling_.begin(options_, space_, limit_);
  checkpoints_.begin(options_, ranking_);
}

MANTA_DECL void course::begin_outputs(double wall) {
  wall_offset_ = wall;
  outputs_.begin(options_.outputs,
                 {options_.folder, options_.name, ranking_.metric(), ranking_.maximises(), space_, wall, options_.clock,
                  class_name(proposals_.used_searcher()->type()), class_name(scheduling_.type()), options_.seed,
                  std::max(1, options_.ranks), options_.best_may_fail, limit_ == ~std::size_t{0} ? 0 : limit_});
}

MANTA_DECL trial_record& course::running(trial_number t) {
  if (t >= records_.size() || !rules_.is_running(t)) throw error(base::text("manta: tune: trial {} does not run", t));
  return records_[t];
}

// ---- a place is free --------------------------------------------------------------------------------

MANTA_DECL std::optional<job> course::next(double now, origin& from, const told* by_journal) {
  if (stop_.is_set() && by_journal == nullptr) return std::nullopt;
  if (!again_.empty()) {
    const auto named =
        by_journal == nullptr ? again_.end() : std::find(again_.begin(), again_.end(), by_journal->trial);
    const auto at = named == again_.end() ? again_.begin() : named;
    trial_record& r = records_[*at];
    again_.erase(at);
    return start(r, now, {}, r.failures > 0 ? "tried again" : "");
  }
  for (;;) {
    const bool is_new = by_journal != nullptr && by_journal->trial == records_.size();
    if (is_new) exhausted_.clear();  // a later start of the program had more to give
    action a = scheduling_.next(exhausted_.empty() && records_.size() < limit_);
    release_dropped(now);
    if (a.what == action::kind::nothing) return std::nullopt;
    if (a.what == action::kind::resume) {
      const trial_record* const r = a.trial < records_.size() ? &records_[a.trial] : nullptr;
      if (by_journal == nullptr && !scheduling_.may_resume(a.trial, r)) return std::nullopt;
      return start(records_.at(a.trial), now, std::move(a.change), a.why);
    }
    // The journal has another trial here, so the searcher had nothing more to give then.
    const bool was_exhausted = by_journal != nullptr && !is_new;
    trial_record* const r = was_exhausted ? nullptr : add_trial(now, from, by_journal);
    if (r != nullptr) return start(*r, now, {}, "");
    if (stop_.has_thrown() && !was_exhausted) return std::nullopt;
    exhausted_ = proposals_.why_no_more();
  }
}

MANTA_DECL trial_record* course::add_trial(double now, origin& from, const told* by_journal) {
  const trial_number t = records_.size();
  std::optional<config> c;
  if (by_journal != nullptr) {
    proposals_.repeat(t, by_journal->parameters, from, stop_);
    c = by_journal->parameters;
  } else {
    c = proposals_.next(t, stop_, from);
  }
  if (!c) return nullptr;
  proposals_.given(*c);
  trial_record& r = records_.emplace_back();
  r.id = t;
  r.parameters = std::move(*c);
  r.began = now;
  r.wall = wall_offset_ + now;
  scheduling_.add(t, r.parameters);
  if (stop_.has_thrown() && by_journal == nullptr) {  // the trial does not begin
    records_.pop_back();
    return nullptr;
  }
  outputs_.add(r);
  return &r;
}

MANTA_DECL void course::start_none(double now) {
  if (stop_.is_set()) return;
  while (scheduling_.next(exhausted_.empty() && records_.size() < limit_).what == action::kind::add)
    exhausted_ = proposals_.why_no_more();
  release_dropped(now);
}

MANTA_DECL job course::start(trial_record& r, double now, std::optional<exploit> change, const std::string& why) {
  const bool fresh = r.iteration == 0 && r.checkpoint == 0 && r.failures == 0;
  ++r.starts;
  job j{r.id, r.runs_with(), r.iteration, fresh ? std::nullopt : std::optional(r.id), 0};
  if (change) apply(r, *change, j);
  outputs_.decide(r, change ? "exploit" : r.failures > 0 ? "retry" : "resume", why);
  r.state = status::running;
  r.ran.push_back({now, now});
  rules_.start(r.id);
  j.silent_until = silent_until(r.id);
  return j;
}

MANTA_DECL void course::apply(trial_record& r, const exploit& e, job& j) {
  checkpoints_.forgive(r.id);
  (is_infinite(r.best_loss) ? r.parameters : r.changed) = e.to;
  r.iteration = 0;  // it is now what the source was: a report counts whatever its iteration
  const trial_record& source = records_.at(e.source);
  if (!source.checkpoint_file.empty() && e.source != r.id)
    checkpoints_.set(r, source.checkpoint, source.checkpoint_file);
  j.parameters = e.to;
  j.iteration = 0;
  j.from = e.source;
  r.losses.cut();
  r.averaged = 0;
}

MANTA_DECL void course::place(trial_number t, int rank, double now) {
  trial_record& r = running(t);
  r.ran.back() = {now, now, rank};
  r.host = outputs_.host_of(rank);
}

MANTA_DECL double course::silent_until(trial_number t) {
  if (stop_.is_set()) return 0;
  double until = options_.clock.empty() ? scheduling_.silent_until(t) : 0;
  until = std::min(until, rules_.silent_until(t));
  if (const auto owed = checkpoints_.owed(t)) until = std::min(until, static_cast<double>(*owed));
  return until;
}

// ---- a report --------------------------------------------------------------------------------------

MANTA_DECL answer course::report(trial_number t, const metrics& m, double now, std::uint64_t iteration,
                                 double seconds) {
  trial_record& r = running(t);
  r.iteration = iteration;
  r.seconds = seconds;
  r.wall = wall_offset_ + now;
  r.ran.back().end = now;
  if (const auto mistake = mistake_in_report(m, ranking_.objectives(), options_.clock)) return refuse(r, *mistake, now);
  r.at = options_.clock.empty() ? static_cast<double>(iteration) : *m.find(options_.clock);
  r.last = m;
  rules_.note_reported(m);
  checkpoints_.score(r);
  ranking_.count_report(now);
  outputs_.report(r, m, seconds);
  for (const objective& o : ranking_.objectives()) {
    const double value = *m.find(o.metric);
    if (is_finite(value)) continue;
    return refuse(r,
                  base::text("reported {} = {} at {}: it is not continued", o.metric,
                             is_nan(value) ? "nan" : "infinite", number_text(r.at)),
                  now);
  }
  take_losses(r, m);
  return judge(r, now);
}

MANTA_DECL answer course::refuse(trial_record& r, const std::string& why, double now) {
  withdraw(r, status::failed, why, now);
  --r.iteration;  // this report does not count: a trial that is started again makes it once more
  return {verdict::kind::stop, false, {}, 0};
}

MANTA_DECL void course::take_losses(trial_record& r, const metrics& m) {
  r.loss = ranking_.flipped(*m.find(ranking_.metric()));
  if (ranking_.takes(r, m) && !r.changed.empty()) r.parameters = std::exchange(r.changed, {});
  ranking_.reported(r);
  r.losses.add(r.at, ranking_.so_far(r));
  proposals_.reported(r.id, r.at, ranking_.so_far(r), stop_);
}

MANTA_DECL answer course::judge(trial_record& r, double now) {
  constexpr std::uint64_t patience = 1000;  // reports
  const progress p{r.id, r.at, r.seconds, r.last};
  const std::optional<std::string> why = rules_.judge(p, stop_);
  verdict v;
  if (!why) {
    v = scheduling_.report(r, ranking_.so_far(r));
    release_dropped(now);
  }
  if (r.iteration >= patience) rules_.miss_metrics(r, stop_);
  rules_.judge_all(ranking_, stop_);
  if (!why) return obey(r, std::move(v), now);
  withdraw(r, status::complete, *why, now);
  return {verdict::kind::stop, false, {}, 0};
}

MANTA_DECL answer course::obey(trial_record& r, verdict v, double now) {
  constexpr verdict::kind stop = verdict::kind::stop, pause = verdict::kind::pause;
  if (v.what == stop) {
    const bool whole = v.why.starts_with("reached");
    close(r, whole ? status::complete : status::stopped, v.why, now);
    return {stop, false, {}, 0};
  }
  if (stop_.is_set()) {
    withdraw(r, status::stopped, stop_.text(), now);
    return {stop, false, {}, 0};
  }
  const bool saves = v.save || v.what == pause;
  if (saves && !scheduling_.keeps_nothing() && !options_.folder.empty()) checkpoints_.owe(r.id, r.iteration);
  answer a{v.what, v.save, {}, 0};
  if (v.what == pause) {
    r.state = status::paused;
    leave(r, now);
    outputs_.decide(r, "pause", v.why);
    return a;
  }
  if (v.change) {
    outputs_.decide(r, "exploit", v.why);
    job j;
    apply(r, *v.change, j);
    ++r.starts;
    r.ran.push_back({now, now, r.ran.back().rank});
    a.change = std::move(v.change);
  }
  a.silent_until = silent_until(r.id);
  return a;
}

// ---- a trial ends -----------------------------------------------------------------------------------

MANTA_DECL void course::leave(trial_record& r, double now) {
  if (rules_.leave(r.id)) r.ran.back().end = now;
}

MANTA_DECL void course::end(trial_number t, double now) {
  trial_record& r = running(t);
  if (r.last.empty()) {
    withdraw(r, status::failed, "ended without a report of \"" + ranking_.metric() + "\"", now);
    return;
  }
  withdraw(r, status::complete, "ended", now);
}

MANTA_DECL bool course::fail(trial_number t, const std::string& why, double now, cause c) {
  constexpr int most_crashes = 2, most_losses = 4;  // after which the trial may well be the reason
  trial_record& r = running(t);
  r.failures += c == cause::failure || c == cause::crash;
  r.crashes += c == cause::crash;
  r.ranks_lost += c == cause::lost;
  const bool crashed_enough = r.crashes >= most_crashes, lost_enough = r.ranks_lost >= most_losses;
  if (c >= cause::lost && stop_.is_set()) {
    withdraw(r, status::stopped, stop_.text(), now);
  } else if (r.failures > options_.retries || stop_.is_set()) {
    withdraw(r, status::failed, why, now);
  } else if (c != cause::interrupted && (crashed_enough || lost_enough)) {
    withdraw(r, status::failed,
             (crashed_enough ? base::text("it has taken {} ranks with it", r.crashes)
                             : base::text("{} ranks died while they ran it", r.ranks_lost)) +
                 ", and it is not tried again; the last: " + why,
             now);
  } else {
    outputs_.decide(r, name_of(c), why);
    r.why = why;
    r.state = status::waiting;  // reports that it makes again on the way to where it was are passed over
    leave(r, now);
    again_.push_back(t);
    return true;
  }
  return false;
}

MANTA_DECL void course::withdraw(trial_record& r, status how, const std::string& why, double now) {
  scheduling_.remove(r.id, how);
  close(r, how, why, now);
}

MANTA_DECL void course::close(trial_record& r, status how, const std::string& why, double now) {
  leave(r, now);
  r.state = how;
  r.why = why;
  r.wall = wall_offset_ + now;
  r.losses.shrink();
  checkpoints_.forgive(r.id);
  if (how == status::complete) rules_.miss_metrics(r, stop_);
  // What a trial reported before it failed is no result.
  proposals_.ended(r, stop_);
  if (how == status::failed) ranking_.failed(r, records_);
  release_dropped(now);
  ranking_.ended(r);
  outputs_.decide(r, name_of(how), why);
  outputs_.end(r);
  rules_.judge_all(ranking_, stop_);
  checkpoints_.release(r);
  released_.push_back(r.id);
}

MANTA_DECL void course::release_dropped(double now) {
  for (const trial_number t : scheduling_.take_dropped()) {
    trial_record& r = records_.at(t);
    if (r.state == status::paused) close(r, status::stopped, "not among the best of its bracket", now);
  }
}

MANTA_DECL void course::revive(trial_number t) {
  trial_record& r = records_.at(t);
  r.failures = r.crashes = r.ranks_lost = 0;
  checkpoints_.claim(r);
  r.state = status::waiting;
  scheduling_.add(t, r.runs_with());
  ranking_.revived(r, records_);
  again_.push_back(t);
  finished_ = false;
}

// ---- the experiment as a whole ----------------------------------------------------------------------

MANTA_DECL void course::tick(double now) {
  ranking_.passed(now);
  rules_.judge_all(ranking_, stop_);
}

MANTA_DECL void course::finish(double now) {
  finished_ = true;
  for (trial_record& r : records_) {
    if (r.ended()) continue;
    withdraw(r, status::stopped, stop_.is_set() ? stop_.text() : "the experiment ended", now);
  }
}

MANTA_DECL void course::resize(std::size_t limit) {
  limit_ = limit;
  scheduling_.resize(limit);
}

}  // namespace manta::tune::detail
