// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of stopping.hpp.
#pragma once

#include <cmath>
#include <deque>

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
            return "ran for " + detail::number_text(p.seconds) + " s";
          },
          infinity};
}

MANTA_DECL stop_rule at_least(std::string metric, double goal) {
  detail::require_rule(!metric.empty() && !is_nan(goal), "at_least needs the name of a metric and a number");
  return {metric, [metric, goal](const progress& p) -> std::optional<std::string> {
            const double* x = p.reported.find(metric);
            if (x == nullptr || is_nan(*x) || *x < goal) return std::nullopt;
            return metric + " " + detail::number_text(*x) + " is at least " + detail::number_text(goal);
          }};
}

MANTA_DECL stop_rule at_most(std::string metric, double goal) {
  detail::require_rule(!metric.empty() && !is_nan(goal), "at_most needs the name of a metric and a number");
  return {metric, [metric, goal](const progress& p) -> std::optional<std::string> {
            const double* x = p.reported.find(metric);
            if (x == nullptr || is_nan(*x) || *x > goal) return std::nullopt;
            return metric + " " + detail::number_text(*x) + " is at most " + detail::number_text(goal);
          }};
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
            return metric + " is on a plateau: the last " + std::to_string(o.reports) + " reports deviate by " +
                   detail::number_text(std::sqrt(square));
          }};
}

MANTA_DECL experiment_rule time_budget(std::chrono::duration<double> limit) {
  detail::require_rule(!is_nan(limit.count()) && limit.count() >= 0,
                       "time_budget needs a duration that is not negative");
  return [limit](const overview& o) -> std::optional<std::string> {
    if (o.seconds < limit.count()) return std::nullopt;
    return "the time budget of " + detail::number_text(limit.count()) + " s is used up";
  };
}

MANTA_DECL experiment_rule report_budget(std::size_t limit) {
  detail::require_rule(limit > 0, "report_budget needs a positive number");
  return [limit](const overview& o) -> std::optional<std::string> {
    if (o.reports < limit) return std::nullopt;
    return "the budget of " + std::to_string(limit) + " reports is used up";
  };
}

MANTA_DECL experiment_rule ended_budget(std::size_t limit) {
  detail::require_rule(limit > 0, "ended_budget needs a positive number");
  return [limit](const overview& o) -> std::optional<std::string> {
    if (o.ended < limit) return std::nullopt;
    return std::to_string(limit) + " trials have ended";
  };
}

MANTA_DECL experiment_rule no_improvement(std::size_t trials) {
  detail::require_rule(trials > 0, "no_improvement needs a positive number of trials");
  return [trials](const overview& o) -> std::optional<std::string> {
    if (o.ended_since_best < trials) return std::nullopt;
    return std::to_string(trials) + " trials have brought no improvement";
  };
}

MANTA_DECL experiment_rule best_reaches(double goal) {
  detail::require_rule(!is_nan(goal), "best_reaches needs a number");
  return [goal](const overview& o) -> std::optional<std::string> {
    if (!is_finite(o.best) || !(o.maximised ? o.best_metric >= goal : o.best_metric <= goal)) return std::nullopt;
    return "the best value " + detail::number_text(o.best_metric) + " has reached " + detail::number_text(goal);
  };
}

}  // namespace manta::tune
