// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The percentile rule of Optuna (Akiba et al., KDD 2019): a trial stops when its
// best loss so far is worse than a percentile of what the complete trials had at
// the same point. With 50 it is Optuna's median rule; median_stopping is that of
// Vizier, which compares with means, and with trials that have been stopped too.
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class percentile_stopping {
 public:
  struct options {
    double percentile = 25;       ///< share of the complete trials, in percent, that a trial has to be as good as
    double grace = 0;             ///< no trial is judged before this point
    double interval = 0;          ///< a trial is judged once in each stretch of this length; 0: at each report
    std::size_t startup = 5;      ///< complete trials before which no trial is judged
    std::size_t min_samples = 1;  ///< complete trials that have come as far, without which a trial is not judged
  };
  percentile_stopping() : percentile_stopping(options{}) {}
  MANTA_DECL explicit percentile_stopping(options o);

  void add(trial_number t, const config&) { running_[t] = {}; }
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void complete(trial_number t);
  void remove(trial_number t) { running_.erase(t); }
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  MANTA_DECL double silent_until(trial_number t) const;
  MANTA_DECL std::string remark(double longest) const;

 private:
  struct course {
    double best = infinity, last = -infinity;
    std::vector<std::pair<double, double>> losses;  ///< (at, loss), ascending
  };

  /// The number of the stretch in which a point lies; negative before the grace is over.
  double stretch_of(double at) const;
  /// Whether a trial is judged at this point, after its last report at `before`.
  bool is_due(double at, double before) const;
  /// Enters the loss of a complete trial at a point, which is that of its last report up to there.
  static void enter(std::vector<double>& ascending, const course& c, double at);
  /// The losses of the complete trials at this point, ascending. They are collected once for each point, so that the
  /// work of a report does not grow with the number of trials.
  const std::vector<double>& losses_at(double at);

  options options_;
  std::map<trial_number, course> running_;
  std::vector<course> complete_;
  std::map<double, std::vector<double>> losses_at_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/percentile_stopping.ipp"
#endif
