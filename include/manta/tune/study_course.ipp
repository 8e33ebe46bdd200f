// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The course of an experiment: the same for what happens now and for what the journal tells of an earlier run.
#pragma once

#include <algorithm>

#include "manta/tune/study.hpp"

namespace manta::tune {

MANTA_DECL std::optional<job> study::next_of(double now, const config* said, std::optional<trial_number> trial, const origin* from) {
  if (!stopping_.empty() && said == nullptr) return std::nullopt;
  if (!again_.empty()) {
    const trial_number t = again_.front();
    again_.erase(again_.begin());
    trial_record& r = records_[t];
    return start(r, now, {}, r.failures > 0 ? "tried again" : "");
  }
  for (;;) {
    if (trial && *trial == records_.size()) exhausted_ = false;  // a later start had more to give
    action a = guarded("the scheduler", [&] { return scheduler_.next(!exhausted_ && records_.size() < limit_); });
    release_dropped(now);
    if (a.what == action::kind::nothing) return std::nullopt;
    if (a.what == action::kind::resume && said == nullptr && !may_resume(a.trial)) return std::nullopt;
    if (a.what == action::kind::resume) return start(records_.at(a.trial), now, std::move(a.change), a.why);
    if (trial && *trial != records_.size()) {
      exhausted_ = true;  // so it was: otherwise this trial would have been added
      continue;
    }
    const trial_number t = records_.size();
    std::optional<config> c;
    if (said != nullptr) {
      repeat_ask(t, *said, *from);
      c = *said;
    } else {
      c = new_parameters(t);
    }
    if (!c) {
      exhausted_ = true;
      continue;
    }
    if (searcher_.is_distinct()) points_.add(*c);
    trial_record& r = records_.emplace_back();
    r.id = t;
    r.parameters = std::move(*c);
    r.began = now;
    r.wall = wall_offset_ + now;
    guarded("the scheduler", [&] { scheduler_.add(t, r.parameters); });
    if (thrown_ && said == nullptr) {  // it does not begin
      records_.pop_back();
      return std::nullopt;
    }
    for (any_output& o : outputs_) o.add(r);
    return start(r, now, {}, "");
  }
}

MANTA_DECL bool study::may_resume(trial_number t) {
  const bool is_there = t < records_.size();
  if (is_there && records_[t].state == status::paused) return true;
  guarded("the scheduler", [&] {
    throw error("manta: tune: the scheduler resumes trial " + std::to_string(t) + ", which " +
                (is_there ? std::string("is ") + name_of(records_[t].state) : "does not exist") + ": next() may resume trials that it has paused");
  });
  return false;
}

MANTA_DECL std::optional<config> study::new_parameters(trial_number t) {
  if (from_first_ < first_.size()) {
    const config& c = first_[from_first_++];
    origin_.is_first = true;
    guarded("the searcher", [&] { searcher_.add(t, c); });
    return c;
  }
  constexpr std::size_t most_asks = 4;
  auto c = guarded("the searcher", [&] { return searcher_.ask(t); });
  while (c && searcher_.is_distinct() && points_.is_repeated(*c)) {
    if (origin_.asks < most_asks) {
      ++origin_.asks;
      c = guarded("the searcher", [&] { return searcher_.ask(t); });
      continue;
    }
    random r(options_.seed, t, 0x6f74686572ULL);
    if (auto other = points_.instead_of(*c, r)) {
      origin_.is_instead = true;
      guarded("the searcher", [&] { searcher_.add(t, *other); });
      c = std::move(other);
    }
    break;
  }
  return c;
}

MANTA_DECL void study::repeat_ask(trial_number t, const config& said, const origin& from) {
  from_first_ += from.is_first;
  guarded("the searcher", [&] {
    for (std::size_t i = 0; !from.is_first && i < from.asks; ++i) searcher_.again(t, said);
    if (from.is_first || from.is_instead) searcher_.add(t, said);
  });
}

MANTA_DECL job study::start(trial_record& r, double now, std::optional<exploit> change, const std::string& why) {
  const bool fresh = r.iteration == 0 && r.checkpoint == 0 && r.failures == 0;
  ++r.starts;
  job j{r.id, r.runs_with(), r.iteration, fresh ? std::nullopt : std::optional(r.id), 0};
  if (change) apply(r, *change, j);
  decide(r, change ? "exploit" : r.failures > 0 ? "retry" : "resume", why);
  r.state = status::running;
  r.ran.push_back({now, now});
  running_.emplace(r.id, options_.stop);
  j.silent_until = silence_of(r.id);
  return j;
}

MANTA_DECL void study::opened_of(int rank, double now) {
  places_.push_back(rank);
  for (any_output& o : outputs_) o.opened(rank, now);
}

MANTA_DECL void study::closed_of(int rank, double now) {
  const auto at = std::find(places_.begin(), places_.end(), rank);
  if (at == places_.end()) return;
  places_.erase(at);
  for (any_output& o : outputs_) o.closed(rank, now);
}

MANTA_DECL void study::close_places(double now) {
  while (!places_.empty()) closed_of(places_.back(), now);
}

MANTA_DECL void study::placed_of(trial_number t, int rank, double now) { running(t).ran.back() = {now, now, rank}; }

MANTA_DECL void study::leave(trial_record& r, double now) {
  if (running_.erase(r.id) > 0) r.ran.back().end = now;
}

MANTA_DECL void study::apply(trial_record& r, const exploit& e, job& j) {
  owed_.erase(r.id);
  (is_infinite(r.best_loss) ? r.parameters : r.changed) = e.to;
  r.iteration = 0;  // it is now what the source was: a report counts whatever its iteration
  const trial_record& source = records_.at(e.source);
  if (!source.checkpoint_file.empty() && e.source != r.id) set_checkpoint(r, source.checkpoint, source.checkpoint_file);
  j.parameters = e.to;
  j.iteration = 0;
  j.from = e.source;
  r.losses.cut();
}

MANTA_DECL answer study::report_of(trial_number t, const metrics& m, double now, std::uint64_t iteration, double seconds) {
  trial_record& r = running(t);
  r.iteration = iteration;
  r.seconds = seconds;
  r.wall = wall_offset_ + now;
  r.ran.back().end = now;
  const auto refuse = [&](const std::string& why) -> answer {
    give_up(r, why, now);
    --r.iteration;  // this report does not count: a trial that is started again makes it once more
    return {verdict::kind::stop, false, {}, 0};
  };
  const double* value = m.find(metric_);
  if (value == nullptr) return refuse("reported " + m.names() + ", but the experiment's metric is \"" + metric_ + "\"");
  for (const auto& entry : m) {
    if (metrics::is_column(entry.first)) return refuse("reported \"" + entry.first + "\", which is a column of tune's own; give the metric another name");
  }
  const double* clock = options_.clock.empty() ? nullptr : m.find(options_.clock);
  if (clock == nullptr && !options_.clock.empty()) {
    return refuse("reported " + m.names() + ", but the experiment's clock is \"" + options_.clock + "\"");
  }
  if (clock != nullptr && !is_finite(*clock)) {
    return refuse("reported " + options_.clock + ", the experiment's clock, = " + (is_nan(*clock) ? "nan" : "infinite"));
  }
  r.at = clock != nullptr ? *clock : static_cast<double>(iteration);
  r.last = m;
  std::erase_if(unreported_, [&](const std::string& name) { return m.find(name) != nullptr; });
  score_checkpoint(r);
  ++overview_.reports;
  overview_.seconds = now;
  overview_.maximised = sign_ < 0;
  for (any_output& o : outputs_) o.report(r, m, seconds);
  if (!is_finite(*value)) {
    const std::string text = is_nan(*value) ? "nan" : "infinite";
    return refuse("reported " + metric_ + " = " + text + " at " + detail::number_text(r.at) + ": it is not continued");
  }
  r.loss = sign_ * *value;
  r.losses.add(r.at, r.loss);
  if (r.loss < r.best_loss) {
    r.best_loss = r.loss;
    r.best_at = r.at;
    r.best = m;
    if (!r.changed.empty()) r.parameters = std::exchange(r.changed, {});
  }
  if (best_ == none || r.loss < overview_.best) {
    best_ = t;
    overview_.best = r.loss;
    overview_.best_metric = *value;
    overview_.ended_since_best = 0;
  } else if (r.loss == overview_.best) {
    best_ = std::min(best_, t);  // of several, in all outputs the one with the lowest number
  }
  guarded("the searcher", [&] { searcher_.report(t, r.at, r.loss); });

  const auto rules = running_.find(t);
  const progress p{t, r.at, seconds, r.last};
  std::optional<std::string> why;
  for (stop_rule& rule : rules->second) {
    if (!why) why = guarded("a rule of .stop", [&] { return rule(p); });
  }
  verdict v;
  if (!why) {
    v = guarded("the scheduler", [&] { return scheduler_.report(t, r.at, r.loss); });
    release_dropped(now);
  }
  constexpr std::uint64_t patience = 1000;
  if (iteration >= patience) miss_metrics(r);
  check_stop_all();
  if (why) {
    leave_scheduler(t);
    close(r, status::complete, *why, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  if (v.what == verdict::kind::stop) {
    const bool whole = v.why.starts_with("reached");
    close(r, whole ? status::complete : status::stopped, v.why, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  if (!stopping_.empty()) {
    leave_scheduler(t);
    close(r, status::stopped, stopping_, now);
    return {verdict::kind::stop, false, {}, 0};
  }
  answer a{v.what, v.save, {}, 0};
  if ((v.save || v.what == verdict::kind::pause) && log_.is_open()) owed_[t] = iteration;
  if (v.what == verdict::kind::pause) {
    r.state = status::paused;
    leave(r, now);
    decide(r, "pause", v.why);
    return a;
  }
  if (v.change) {
    decide(r, "exploit", v.why);
    job j;
    apply(r, *v.change, j);
    ++r.starts;
    r.ran.push_back({now, now, r.ran.back().rank});
    a.change = std::move(v.change);
  }
  a.silent_until = silence_of(t);
  return a;
}

MANTA_DECL void study::ended_of(trial_number t, double now) {
  trial_record& r = running(t);
  if (r.last.empty()) {
    give_up(r, "ended without a report of \"" + metric_ + "\"", now);
    return;
  }
  leave_scheduler(t);
  close(r, status::complete, "ended", now);
}

MANTA_DECL bool study::failed_of(trial_number t, const std::string& why, double now, cause c) {
  constexpr int most_crashes = 2, most_losses = 4;  // who has seen so many ranks die may well be the reason
  trial_record& r = running(t);
  r.failures += c == cause::failure || c == cause::crash;
  r.crashes += c == cause::crash;
  r.ranks_lost += c == cause::lost;
  const bool crashed_enough = r.crashes >= most_crashes, lost_enough = r.ranks_lost >= most_losses;
  if (c >= cause::lost && !stopping_.empty()) {
    leave_scheduler(t);
    close(r, status::stopped, stopping_, now);
  } else if (r.failures > options_.retries || !stopping_.empty()) {
    give_up(r, why, now);
  } else if (c != cause::interrupted && (crashed_enough || lost_enough)) {
    give_up(r, (crashed_enough ? "it has taken " + std::to_string(r.crashes) + " ranks with it"
                               : std::to_string(r.ranks_lost) + " ranks died while they ran it") +
                   ", and it is not tried again; the last: " + why, now);
  } else {
    decide(r, name_of(c), why);
    r.why = why;
    r.state = status::waiting;  // reports that it makes again on the way to where it was are passed over
    leave(r, now);
    again_.push_back(t);
    return true;
  }
  return false;
}

MANTA_DECL void study::check_stop_all() {
  for (const experiment_rule& rule : options_.stop_all) {
    if (!stopping_.empty()) return;
    if (auto reason = guarded("a rule of .stop_all", [&] { return rule(overview_); })) stopping_ = std::move(*reason);
  }
}

MANTA_DECL void study::find_best() {
  const trial_number before = best_;
  best_ = none;
  overview_.best = infinity;
  overview_.best_metric = 0;
  for (const trial_record& r : records_) {
    if (!may_be_best(r) || r.best_loss >= overview_.best) continue;
    best_ = r.id;
    overview_.best = r.best_loss;
    overview_.best_metric = sign_ * r.best_loss;
  }
  if (best_ != before) overview_.ended_since_best = 0;
}

MANTA_DECL void study::leave_scheduler(trial_number t) {
  guarded("the scheduler", [&] { scheduler_.remove(t); });
}

MANTA_DECL void study::give_up(trial_record& r, const std::string& why, double now) {
  leave_scheduler(r.id);
  close(r, status::failed, why, now);
}

MANTA_DECL void study::close(trial_record& r, status how, const std::string& why, double now) {
  leave(r, now);
  r.state = how;
  r.why = why;
  r.wall = wall_offset_ + now;
  r.losses.shrink();
  owed_.erase(r.id);
  if (how == status::complete) miss_metrics(r);
  // what it reported before it failed is no result
  guarded("the searcher", [&] { searcher_.tell(r.id, how == status::failed ? std::nan("") : r.best_loss); });
  if (how == status::failed && r.id == best_) find_best();
  release_dropped(now);
  ++overview_.ended;
  overview_.ended_since_best += r.id != best_;
  decide(r, name_of(how), why);
  for (any_output& o : outputs_) o.end(r);
  check_stop_all();
  files_.use(r.checkpoint_file, -1);
  released_.push_back(r.id);
}

MANTA_DECL void study::release_dropped(double now) {
  for (const trial_number t : guarded("the scheduler", [&] { return scheduler_.take_dropped(); })) {
    trial_record& r = records_.at(t);
    if (r.state == status::paused) close(r, status::stopped, "not among the best of its bracket", now);
  }
}

MANTA_DECL void study::finish_of(double now) {
  finished_ = true;
  for (trial_record& r : records_) {
    if (r.ended()) continue;
    leave_scheduler(r.id);
    close(r, status::stopped, stopping_.empty() ? "the experiment ended" : stopping_, now);
  }
}

MANTA_DECL double study::silence_of(trial_number t) {
  if (!stopping_.empty()) return 0;
  double until = options_.clock.empty() ? guarded("the scheduler", [&] { return scheduler_.silent_until(t); }) : 0;
  const auto rules = running_.find(t);
  for (const stop_rule& rule : rules->second) until = std::min(until, rule.silent_until());
  if (const auto owed = owed_.find(t); owed != owed_.end()) until = std::min(until, static_cast<double>(owed->second));
  return until;
}

}  // namespace manta::tune
