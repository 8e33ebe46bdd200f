// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of experiment_check.hpp.
#pragma once

#include <algorithm>
#include <set>

#include "manta/error.hpp"
#include "manta/tune/experiment_check.hpp"

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

MANTA_DECL void check(const experiment& e, const space& where) {
  if (e.minimise.empty() == e.maximise.empty()) {
    throw error("manta: tune: say what to optimise: give .minimise or .maximise the name of a metric, not both");
  }
  if (e.retries < 0) throw error("manta: tune: retries must not be negative");
  if (!e.checkpoints.minimise.empty() && !e.checkpoints.maximise.empty()) {
    throw error(
        "manta: tune: checkpoints are kept by .minimise or by .maximise, not by both; without them, by the "
        "experiment's metric");
  }
  if (!e.scheduler || !e.searcher) throw error("manta: tune: searcher and scheduler must not be empty");
  for (const std::string& name : {e.minimise, e.maximise, e.clock}) {
    if (metrics::is_column(name))
      throw error("manta: tune: \"" + name + "\" is a column of tune's own; give the metric another name");
  }
  try_space(where, e.seed);
}

MANTA_DECL std::vector<std::string> metrics_of_rules(const experiment& e) {
  std::set<std::string> all = {e.checkpoints.minimise, e.checkpoints.maximise};
  for (const stop_rule& rule : e.stop) all.insert(rule.metric());
  // A trial that does not report one of these fails by itself.
  for (const std::string& name : {std::string(), e.minimise, e.maximise, e.clock}) all.erase(name);
  return {all.begin(), all.end()};
}

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

}  // namespace manta::tune::detail
