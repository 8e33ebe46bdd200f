// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an experiment is to reach: metrics that shall be small or large, and limits that results and configurations
// have to keep.
//
//   {.minimise = "loss"}                                      {.minimise = "latency", .maximise = "accuracy"}
//   {.minimise = {"loss", "latency"}}                         // several objectives: results.front()
//   {.minimise = "loss", .subject_to = {tune::at_most("latency", 5),
//                                       tune::forbid([](const tune::config& c) { return c["x"] + c["y"] > 1; })}}
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/tune/config.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The name of a metric, or the names of several.
class metric_names {
 public:
  metric_names() = default;
  metric_names(const char* name) : metric_names(std::string_view(name)) {}
  metric_names(const std::string& name) : metric_names(std::string_view(name)) {}
  metric_names(std::string_view name) {
    if (!name.empty()) all_.emplace_back(name);
  }
  metric_names(std::initializer_list<std::string_view> names) : all_(names.begin(), names.end()) {}

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<std::string> all_;
};

/// A metric that shall be small, or large.
struct objective {
  std::string metric;
  bool maximised = false;

  /// The loss of a value of the metric, and the value of a loss: smaller losses are better.
  double flipped(double x) const { return maximised ? -x : x; }
};

/// What is the value of a trial.
enum class counted : std::uint8_t {
  best_report,  ///< the best value that it has reported
  mean          ///< the mean of its reports, each of which is the value for another seed, fold or instance
};

/// A limit of a metric. As one of .subject_to it is a constraint that the best trial keeps; as one of .stop it ends a
/// trial that reaches it.
struct bound {
  std::string metric;
  double limit = 0;
  bool is_upper = true;  ///< else the metric has to be at least the limit

  bool holds(double x) const { return is_upper ? x <= limit : x >= limit; }
  /// The distance of a value from the limit, as a part of the limit: positive for a value that breaks it.
  MANTA_DECL double excess(double x) const;
  /// latency at most 5
  MANTA_DECL std::string text() const;
};
MANTA_DECL bound at_least(std::string metric, double limit);
MANTA_DECL bound at_most(std::string metric, double limit);

/// Configurations that are never tried: those for which the function returns true.
struct forbidden {
  std::function<bool(const config&)> test;
};
MANTA_DECL forbidden forbid(std::function<bool(const config&)> test);

/// One of .subject_to.
class constraint {
 public:
  constraint(bound b) : bound_(std::move(b)) {}
  constraint(forbidden f) : forbidden_(std::move(f.test)) {}

  bool is_bound() const { return !forbidden_; }
  const bound& limit() const { return bound_; }
  const std::function<bool(const config&)>& test() const { return forbidden_; }

 private:
  bound bound_;
  std::function<bool(const config&)> forbidden_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/objective.ipp"
#endif
