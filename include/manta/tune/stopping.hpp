// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When a trial, or the whole experiment, has done enough. A rule is a function
// that says why to stop, or nothing:
//
//   .stop = {tune::at_least("accuracy", 0.95), tune::after(100)}
//   .stop_all = {tune::time_budget(10min), tune::complete_budget(50) && tune::no_improvement(20)}
//
// The first rule of a list that says why ends it; rules joined by && have to say so together.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "manta/tune/metrics.hpp"
#include "manta/tune/objective.hpp"
#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// One report of a trial, as rules see it.
struct progress {
  trial_number trial = 0;
  double at = 0;       ///< time by the experiment's clock: reports, or the metric that it names
  double seconds = 0;  ///< that the trial has run
  const metrics& reported;
};

/// Looks at each report of one trial; every trial has a copy of its own.
class stop_rule {
 public:
  using function = std::function<std::optional<std::string>(const progress&)>;
  template <class F>
    requires(std::is_invocable_r_v<std::optional<std::string>, F, const progress&>)
  stop_rule(F rule) : rule_(std::move(rule)) {}
  /// The trial ends when the metric keeps the bound.
  MANTA_DECL stop_rule(bound goal);
  /// Makes a rule about one metric. A study stops if no trial reports this metric.
  stop_rule(std::string metric, function rule) : rule_(std::move(rule)), metrics_{std::move(metric)} {}
  /// Makes a rule that never stops a trial before `at`, so that the trial need not wait for an answer until then.
  stop_rule(function rule, double silent_until) : rule_(std::move(rule)), silent_until_(silent_until) {}

  std::optional<std::string> operator()(const progress& p) { return rule_(p); }
  double silent_until() const { return silent_until_; }
  /// The metrics that it is known to look at.
  const std::vector<std::string>& metrics() const { return metrics_; }
  /// A rule that ends the trial when both end it at the same report.
  friend stop_rule operator&&(stop_rule a, stop_rule b) { return both(std::move(a), std::move(b)); }

 private:
  MANTA_DECL static stop_rule both(stop_rule a, stop_rule b);

  function rule_;
  std::vector<std::string> metrics_;
  double silent_until_ = 0;
};

/// The trial has come to `at` by the experiment's clock: after `at` reports, if there is no other clock.
MANTA_DECL stop_rule after(double at);
/// The trial has run that long.
MANTA_DECL stop_rule after_time(std::chrono::duration<double> limit);
struct plateau_options {
  std::size_t reports = 4;  ///< that are looked at: the last ones
  double deviation = 0.01;  ///< have a smaller standard deviation
  std::size_t grace = 4;    ///< reports before which the rule does not hold
};
/// The metric does not move any more.
MANTA_DECL stop_rule plateau(std::string metric, plateau_options o = {});

/// The experiment at a moment, as its rules see it.
struct overview {
  double seconds = 0;  ///< since it began, without the time between a kill and the continuation
  std::size_t reports = 0;
  std::size_t ended = 0;  ///< trials; the sum of the three that follow
  std::size_t complete = 0, stopped = 0, failed = 0;
  double best = infinity;  ///< least loss that keeps the constraints, of the first objective; a loss is negated if the
                           ///< metric is maximised
  double best_metric = 0;  ///< the metric itself
  bool maximised = false;
  std::size_t ended_since_best = 0;  ///< trials that have ended since the best one reported, or the front was changed
  std::vector<double> best_after = {};  ///< least loss after each end of a trial
};
/// Asked after each batch of reports and each end of a trial, and about every second if nothing happens; its answer
/// depends on nothing but what it is shown. When it says why, no further trials begin, and those that run end at
/// their next reports.
class experiment_rule {
 public:
  using function = std::function<std::optional<std::string>(const overview&)>;
  template <class F>
    requires(std::is_invocable_r_v<std::optional<std::string>, F, const overview&>)
  experiment_rule(F rule) : rule_(std::move(rule)) {}
  /// Makes the rule of nothing_new().
  experiment_rule(function rule, bool ends_when_all_is_tried)
      : rule_(std::move(rule)), ends_when_all_is_tried_(ends_when_all_is_tried) {}

  std::optional<std::string> operator()(const overview& o) const { return rule_(o); }
  /// A rule that stops the experiment when both do. Throws for the rule of nothing_new().
  friend experiment_rule operator&&(experiment_rule a, experiment_rule b) { return both(std::move(a), std::move(b)); }
  /// Whether no configuration is tried a second time: the rule of nothing_new().
  bool ends_when_all_is_tried() const { return ends_when_all_is_tried_; }

 private:
  MANTA_DECL static experiment_rule both(experiment_rule a, experiment_rule b);

  function rule_;
  bool ends_when_all_is_tried_ = false;
};

MANTA_DECL experiment_rule time_budget(std::chrono::duration<double> limit);
/// Reports of all trials together: epochs, if a report is one.
MANTA_DECL experiment_rule report_budget(std::size_t limit);
MANTA_DECL experiment_rule ended_budget(std::size_t limit);
/// `limit` trials are complete. With .trials = 0, as many trials as this takes are begun.
MANTA_DECL experiment_rule complete_budget(std::size_t limit);
/// `limit` trials have failed.
MANTA_DECL experiment_rule failure_budget(std::size_t limit);
/// All configurations of a finite space have been tried; without this rule they are then tried again. Trials that run
/// go on to their ends.
MANTA_DECL experiment_rule nothing_new();
/// The last `trials` that have ended have improved the best value by less than `least`, in units of the metric.
MANTA_DECL experiment_rule small_improvement(double least, std::size_t trials);
/// That many trials have ended since the best value was reported, or the front of several objectives was changed.
MANTA_DECL experiment_rule no_improvement(std::size_t trials);
/// The best value of the metric is as good as `goal`, whichever way is better.
MANTA_DECL experiment_rule best_reaches(double goal);

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/stopping.ipp"
#endif
