// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>

#include "manta/base/text.hpp"
#include "manta/tune/stopping.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL void require_rule(bool good, const char* what) {
  if (!good) throw error(std::string("manta: a stopping rule: ") + what);
}

}  // namespace detail

MANTA_DECL stop_rule after(double at) {
  detail::require_rule(!is_nan(at) && at > 0, "after needs a positive number");
  return {[at](const progress& p) -> std::optional<std::string> {
            if (p.at < at) return std::nullopt;
            return "reached " + detail::number_text(at);
          },
          at};
}

MANTA_DECL stop_rule after_time(std::chrono::duration<double> limit) {
  detail::require_rule(!is_nan(limit.count()) && limit.count() >= 0,
                       "after_time needs a duration that is not negative");
  return {[limit](const progress& p) -> std::optional<std::string> {
            if (p.seconds < limit.count()) return std::nullopt;
            return base::text("ran for {} s", detail::number_text(p.seconds));
          },
          infinity};
}

MANTA_DECL stop_rule::stop_rule(bound goal)
    : rule_([goal](const progress& p) -> std::optional<std::string> {
        const double* x = p.reported.find(goal.metric);
        if (x == nullptr || !goal.holds(*x)) return std::nullopt;
        return base::text("{} {} is at {} {}", goal.metric, detail::number_text(*x), goal.is_upper ? "most" : "least",
                          detail::number_text(goal.limit));
      }),
      metrics_{goal.metric} {}

MANTA_DECL stop_rule stop_rule::both(stop_rule a, stop_rule b) {
  const double silent_until = std::max(a.silent_until_, b.silent_until_);
  std::vector<std::string> metrics = a.metrics_;
  metrics.insert(metrics.end(), b.metrics_.begin(), b.metrics_.end());
  stop_rule joined(
      [a = std::move(a), b = std::move(b)](const progress& p) mutable -> std::optional<std::string> {
        const auto first = a(p), second = b(p);  // each remembers the reports that it has seen
        if (!first || !second) return std::nullopt;
        return *first + ", and " + *second;
      },
      silent_until);
  joined.metrics_ = std::move(metrics);
  return joined;
}

MANTA_DECL experiment_rule experiment_rule::both(experiment_rule a, experiment_rule b) {
  detail::require_rule(!a.ends_when_all_is_tried_ && !b.ends_when_all_is_tried_,
                       "nothing_new() stands by itself in .stop_all; with && it would never hold");
  return [a = std::move(a), b = std::move(b)](const overview& o) -> std::optional<std::string> {
    const auto first = a(o), second = b(o);
    if (!first || !second) return std::nullopt;
    return *first + ", and " + *second;
  };
}

MANTA_DECL stop_rule plateau(std::string metric, plateau_options o) {
  detail::require_rule(!metric.empty() && o.reports >= 2,
                       "plateau needs the name of a metric and at least two reports");
  detail::require_rule(!is_nan(o.deviation) && o.deviation > 0,
                       "plateau needs a positive deviation: none is smaller than 0");
  return {metric,
          [metric, o, seen = std::size_t{0},
           last = std::deque<double>()](const progress& p) mutable -> std::optional<std::string> {
            const double* x = p.reported.find(metric);
            if (x == nullptr) return std::nullopt;
            ++seen;
            last.push_back(*x);
            if (last.size() > o.reports) last.pop_front();
            if (last.size() < o.reports || seen < o.grace) return std::nullopt;
            double mean = 0, square = 0;
            for (const double y : last) mean += y / static_cast<double>(last.size());
            for (const double y : last) square += (y - mean) * (y - mean) / static_cast<double>(last.size());
            if (is_nan(square) || std::sqrt(square) >= o.deviation) return std::nullopt;
            return base::text("{} is on a plateau: the last {} reports deviate by {}", metric, o.reports,
                              detail::number_text(std::sqrt(square)));
          }};
}

MANTA_DECL experiment_rule time_budget(std::chrono::duration<double> limit) {
  detail::require_rule(!is_nan(limit.count()) && limit.count() >= 0,
                       "time_budget needs a duration that is not negative");
  return [limit](const overview& o) -> std::optional<std::string> {
    if (o.seconds < limit.count()) return std::nullopt;
    return base::text("the time budget of {} s is used up", detail::number_text(limit.count()));
  };
}

namespace detail {
/// A rule that holds when this count has come to the limit.
inline experiment_rule budget(const char* who, std::size_t overview::*counted, std::size_t limit, std::string why) {
  require_rule(limit > 0, base::text("{} needs a positive number", who).c_str());
  return [counted, limit, why = std::move(why)](const overview& o) -> std::optional<std::string> {
    if (o.*counted < limit) return std::nullopt;
    return why;
  };
}
}  // namespace detail

MANTA_DECL experiment_rule report_budget(std::size_t limit) {
  return detail::budget("report_budget", &overview::reports, limit,
                        base::text("the budget of {} reports is used up", limit));
}

MANTA_DECL experiment_rule ended_budget(std::size_t limit) {
  return detail::budget("ended_budget", &overview::ended, limit, base::text("{} trials have ended", limit));
}

MANTA_DECL experiment_rule complete_budget(std::size_t limit) {
  return detail::budget("complete_budget", &overview::complete, limit,
                        base::text("{} trial{} complete", limit, limit == 1 ? " is" : "s are"));
}

MANTA_DECL experiment_rule failure_budget(std::size_t limit) {
  return detail::budget("failure_budget", &overview::failed, limit,
                        base::text("{} trial{} failed", limit, limit == 1 ? " has" : "s have"));
}

MANTA_DECL experiment_rule nothing_new() {
  return {[](const overview&) -> std::optional<std::string> { return std::nullopt; }, true};
}

MANTA_DECL experiment_rule small_improvement(double least, std::size_t trials) {
  detail::require_rule(!is_nan(least) && least > 0 && trials > 0,
                       "small_improvement needs a positive amount and a positive number of trials");
  return [least, trials](const overview& o) -> std::optional<std::string> {
    if (o.best_after.size() <= trials) return std::nullopt;
    const double before = o.best_after[o.best_after.size() - 1 - trials], gain = before - o.best_after.back();
    if (!is_finite(before) || gain >= least) return std::nullopt;
    return base::text("{} trials have improved the best value by {}, less than {}", trials, detail::number_text(gain),
                      detail::number_text(least));
  };
}

MANTA_DECL experiment_rule no_improvement(std::size_t trials) {
  detail::require_rule(trials > 0, "no_improvement needs a positive number of trials");
  return [trials](const overview& o) -> std::optional<std::string> {
    if (o.ended_since_best < trials) return std::nullopt;
    return base::text("{} trials have brought no improvement", trials);
  };
}

MANTA_DECL experiment_rule best_reaches(double goal) {
  detail::require_rule(!is_nan(goal), "best_reaches needs a number");
  return [goal](const overview& o) -> std::optional<std::string> {
    if (!is_finite(o.best) || !(o.maximised ? o.best_metric >= goal : o.best_metric <= goal)) return std::nullopt;
    return base::text("the best value {} has reached {}", detail::number_text(o.best_metric),
                      detail::number_text(goal));
  };
}

}  // namespace manta::tune
