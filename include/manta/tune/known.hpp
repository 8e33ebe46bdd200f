// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results from elsewhere, from which a searcher learns before its first trial:
//
//   {.searcher = tune::tpe(), .known = tune::known_results("last_week")}    // another search's folder, or its CSV
//   {.searcher = tune::tpe(), .known = {{tune::config{{"lr", 0.1}}, 0.25}}}   // by hand: a configuration and its value
//
// The space may be another one. Of a known configuration counts what the space has; one with a value outside
// is left out.
#pragma once

#include <string>
#include <vector>

#include "manta/tune/objective.hpp"
#include "manta/tune/outcome.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune {

struct known_result {
  config parameters;
  metrics values = {};  ///< what the trial reported with its best value; empty: `value`
  double value = 0;     ///< value of the first objective
  double at = 0;        ///< the time of training that it had reached; 0: unknown
  bool has_failed = false;

  known_result() = default;
  known_result(config c, double value_of_metric) : parameters(std::move(c)), value(value_of_metric) {}
  known_result(config c, metrics all) : parameters(std::move(c)), values(std::move(all)) {}
};

/// The trials that have ended of a search: `path` is its folder, or a CSV file of results::to_csv, or one with the same
/// columns: config/NAME for parameters, others for metrics, and perhaps "state" and "at". Where no column begins with
/// "config/", each may be a parameter or a metric, by its name. Throws if it is neither.
MANTA_DECL std::vector<known_result> known_results(const std::string& path);

namespace detail {
/// The values of a configuration for which the space has a place; nothing if one is outside, or if there is none.
MANTA_DECL std::optional<config> fitted(const space& where, const config& known);
/// What a searcher is told of it; nothing if a metric is missing.
MANTA_DECL std::optional<outcome> outcome_of(const known_result& known, const std::vector<objective>& objectives,
                                             const std::vector<bound>& limits);
}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/known.ipp"
#endif
