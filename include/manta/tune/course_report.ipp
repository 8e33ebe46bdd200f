// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a report does to a trial, and what the trial is to do then: see course.hpp.
#pragma once

#include <algorithm>

#include "manta/tune/course.hpp"

namespace manta::tune::detail {

/// Why a report is a mistake; nothing if it is none.
MANTA_DECL std::optional<std::string> mistake_in_report(const metrics& m, const std::string& metric,
                                                        const std::string& clock) {
  if (m.find(metric) == nullptr) return "reported " + m.names() + ", but the experiment's metric is \"" + metric + "\"";
  for (const auto& entry : m) {
    if (!metrics::is_column(entry.first)) continue;
    return "reported \"" + entry.first + "\", which is a column of tune's own; give the metric another name";
  }
  if (clock.empty()) return std::nullopt;
  const double* const at = m.find(clock);
  if (at == nullptr) return "reported " + m.names() + ", but the experiment's clock is \"" + clock + "\"";
  if (is_finite(*at)) return std::nullopt;
  return "reported " + clock + ", the experiment's clock, = " + (is_nan(*at) ? "nan" : "infinite");
}

MANTA_DECL answer course::report(trial_number t, const metrics& m, double now, std::uint64_t iteration,
                                 double seconds) {
  trial_record& r = running(t);
  r.iteration = iteration;
  r.seconds = seconds;
  r.wall = wall_offset_ + now;
  r.ran.back().end = now;
  if (const auto mistake = mistake_in_report(m, ranking_.metric(), options_.clock)) return refuse(r, *mistake, now);
  const double value = *m.find(ranking_.metric());
  r.at = options_.clock.empty() ? static_cast<double>(iteration) : *m.find(options_.clock);
  r.last = m;
  std::erase_if(unreported_, [&](const std::string& name) { return m.find(name) != nullptr; });
  checkpoints_.score(r);
  ranking_.count_report(now);
  outputs_.report(r, m, seconds);
  if (!is_finite(value)) {
    const std::string text = is_nan(value) ? "nan" : "infinite";
    return refuse(
        r, "reported " + ranking_.metric() + " = " + text + " at " + number_text(r.at) + ": it is not continued", now);
  }
  take_loss(r, m, value);
  return judge(r, now);
}

MANTA_DECL answer course::refuse(trial_record& r, const std::string& why, double now) {
  give_up(r, why, now);
  --r.iteration;  // this report does not count: a trial that is started again makes it once more
  return {verdict::kind::stop, false, {}, 0};
}

MANTA_DECL void course::take_loss(trial_record& r, const metrics& m, double value) {
  r.loss = ranking_.flipped(value);
  r.losses.add(r.at, r.loss);
  if (r.loss < r.best_loss) {
    r.best_loss = r.loss;
    r.best_at = r.at;
    r.best = m;
    if (!r.changed.empty()) r.parameters = std::exchange(r.changed, {});
  }
  ranking_.reported(r, value);
  proposals_.reported(r.id, r.at, r.loss, stop_);
}

MANTA_DECL answer course::judge(trial_record& r, double now) {
  constexpr std::uint64_t patience = 1000;  // reports
  const progress p{r.id, r.at, r.seconds, r.last};
  std::optional<std::string> why;
  for (stop_rule& rule : running_.find(r.id)->second) {
    if (!why) why = stop_.guarded("a rule of .stop", [&] { return rule(p); });
  }
  verdict v;
  if (!why) {
    v = stop_.guarded("the scheduler", [&] { return scheduler_.report(r.id, r.at, r.loss); });
    release_dropped(now);
  }
  if (r.iteration >= patience) miss_metrics(r);
  check_stop_all();
  if (!why) return obey(r, std::move(v), now);
  leave_scheduler(r.id);
  close(r, status::complete, *why, now);
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
    leave_scheduler(r.id);
    close(r, status::stopped, stop_.text(), now);
    return {stop, false, {}, 0};
  }
  if ((v.save || v.what == pause) && !options_.folder.empty()) checkpoints_.owe(r.id, r.iteration);
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

}  // namespace manta::tune::detail
