// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The median rule of Vizier (Golovin et al., KDD 2017): a trial stops when its
// best loss so far is worse than the median of what the others had on average up
// to the same point.
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class median_stopping {
 public:
  struct options {
    double grace = 1;             ///< nobody stops before, and what is before does not count
    std::size_t min_samples = 3;  ///< others that have come as far
  };
  median_stopping() : median_stopping(options{}) {}
  explicit median_stopping(options o) : options_(o) {}

  void add(trial_number t, const config&) { running_[t] = {}; }
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  /// Removes a trial; its reports still count for the others.
  void remove(trial_number) {}
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  double silent_until(trial_number) const { return options_.grace; }

 private:
  struct history {
    double best = infinity, sum = 0, last = -infinity;
    std::size_t count = 0;
    std::vector<std::pair<double, double>> means;  ///< (at, mean up to there)
  };

  static void insert(std::vector<double>& ascending, double x);
  /// A point at which nobody has reported: collects the means of those that have passed it. Once per point, so the work
  /// per report does not grow with the number of trials.
  void open(double at);

  options options_;
  std::map<trial_number, history> running_;
  std::map<double, std::vector<double>> means_at_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/median_stopping.ipp"
#endif
