// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <set>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/tune/experiment_check.hpp"
#include "manta/tune/ranking.hpp"

namespace manta::tune::detail {

/// Draws from the space, so that conditions that never hold are found.
MANTA_DECL void try_space(const space& where, std::uint64_t seed) {
  random r(seed, 0, 0x7472696564ULL);
  std::vector<std::string> unseen;
  for (const parameter& p : where.parameters()) {
    const auto& all = p.where.conditions();
    if (std::any_of(all.begin(), all.end(), [](const condition& c) { return c.name.empty(); }))
      unseen.push_back(p.name);
  }
  for (int i = 0; i < 64 || (i < 5000 && !unseen.empty()); ++i) {
    const config c = where.draw(r);
    std::erase_if(unseen, [&](const std::string& name) { return c.contains(name); });
  }
  if (unseen.empty()) return;
  throw error("manta: tune: \"" + unseen.front() +
              "\" is in none of 5000 configurations drawn at random: the function that is its condition, "
              "or that of a parameter that it needs, does not hold");
}

/// Throws if what counts as the value of a trial does not fit the objectives or the scheduler.
inline void check_counts(const experiment& e, std::size_t objectives) {
  const bool is_mean = e.counts == counted::mean;
  if (is_mean && objectives > 1)
    throw error("manta: tune: .counts = counted::mean is for one objective; report the means of several yourself");
  if (is_mean && e.best_may_fail)
    throw error(
        "manta: tune: with .counts = counted::mean only complete trials can be the best one: leave out .best_may_fail");
  if (!is_mean && e.scheduler->compares_reports())
    throw error(
        "manta: tune: this scheduler compares trials by the means of their reports; give .counts = "
        "tune::counted::mean, so that the best trial is found by them too");
}

MANTA_DECL void check(const experiment& e) {
  if (e.minimise.empty() && e.maximise.empty()) {
    throw error("manta: tune: say what to optimise: give .minimise or .maximise the name of a metric");
  }
  std::set<std::string> objectives;
  for (const metric_names* names : {&e.minimise, &e.maximise}) {
    for (const std::string& name : *names) {
      if (name.empty()) throw error("manta: tune: a metric of .minimise or .maximise has no name");
      if (!objectives.insert(name).second)
        throw error(base::text("manta: tune: \"{}\" is named twice by .minimise and .maximise", name));
    }
  }
  if (e.repeats < 1)
    throw error(base::text("manta: tune: .repeats is how often each configuration runs: 1 or more, not {}", e.repeats));
  if (e.repeats > 1 && e.counts == counted::mean)
    throw error(
        "manta: tune: .repeats takes the mean of several runs, .counts = counted::mean that of the reports of one run: "
        "give one of them");
  if (e.retries < 0) throw error("manta: tune: retries must not be negative");
  if (!e.checkpoints.minimise.empty() && !e.checkpoints.maximise.empty()) {
    throw error(
        "manta: tune: checkpoints are kept by .minimise or by .maximise, not by both; without them, by the "
        "experiment's metric");
  }
  if (!e.scheduler || !e.searcher) throw error("manta: tune: searcher and scheduler must not be empty");
  check_counts(e, objectives.size());
  std::set<std::string> names = objectives;
  names.insert(e.clock);
  for (const constraint& c : e.subject_to) names.insert(c.limit().metric);
  for (const std::string& name : names) {
    if (metrics::is_column(name))
      throw error(base::text("manta: tune: \"{}\" is a column of tune's own; give the metric another name", name));
  }
}

MANTA_DECL std::vector<std::string> metrics_of_rules(const experiment& e) {
  std::set<std::string> all = {e.checkpoints.minimise, e.checkpoints.maximise};
  for (const stop_rule& rule : e.stop) all.insert(rule.metrics().begin(), rule.metrics().end());
  for (const constraint& c : e.subject_to) all.insert(c.limit().metric);
  // A trial that does not report one of these fails by itself.
  for (const objective& o : objectives_of(e)) all.erase(o.metric);
  all.erase(e.clock);
  all.erase("");
  return {all.begin(), all.end()};
}

MANTA_DECL std::optional<std::string> mistake_in_report(const metrics& m, const std::vector<objective>& objectives,
                                                        const std::string& clock) {
  for (const objective& o : objectives) {
    if (m.find(o.metric) == nullptr)
      return base::text("reported {}, but {} \"{}\"", m.names(),
                        objectives.size() > 1 ? "one of the experiment's metrics is" : "the experiment's metric is",
                        o.metric);
  }
  for (const auto& entry : m) {
    if (!metrics::is_column(entry.first)) continue;
    return base::text("reported \"{}\", which is a column of tune's own; give the metric another name", entry.first);
  }
  if (clock.empty()) return std::nullopt;
  const double* const at = m.find(clock);
  if (at == nullptr) return base::text("reported {}, but the experiment's clock is \"{}\"", m.names(), clock);
  if (is_finite(*at)) return std::nullopt;
  return base::text("reported {}, the experiment's clock, = {}", clock, is_nan(*at) ? "nan" : "infinite");
}

}  // namespace manta::tune::detail
