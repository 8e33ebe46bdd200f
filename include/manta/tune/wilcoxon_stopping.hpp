// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// For trials that evaluate a configuration several times, with other seeds or on
// other folds or instances: a trial stops when it is worse than the best complete
// trial beyond chance. Its reports are paired with those of the best trial at the
// same points, and a signed-rank test judges the differences, as in Optuna's
// WilcoxonPruner (Akiba et al., KDD 2019).
//
//   .counts = tune::counted::mean, .scheduler = tune::wilcoxon_stopping({.p = 0.1})
//
// All trials must report the same seeds, folds or instances at the same points; if
// their order differs, the experiment's .clock names the metric with their numbers.
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The signed-rank test for pairs (Wilcoxon, Biometrics Bulletin 1, 1945).
/// The probability that the positive differences have a sum of ranks at least as large as here, if each difference
/// could as well have the other sign: small if the differences are positive beyond chance. Equal sizes share the middle
/// of their ranks; differences of zero have ranks, half of which counts as positive. Exact for up to 54 differences,
/// beyond that by the normal distribution.
MANTA_DECL double signed_rank_p(const std::vector<double>& differences);

class wilcoxon_stopping {
 public:
  struct options {
    double p = 0.1;           ///< a trial stops if the p-value of the test is below it: a larger one stops more trials
    std::size_t startup = 2;  ///< pairs before which a trial is not judged
  };
  wilcoxon_stopping() : wilcoxon_stopping(options{}) {}
  MANTA_DECL explicit wilcoxon_stopping(options o);

  void add(trial_number t, const config&) { running_[t] = {}; }
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void complete(trial_number t);
  void remove(trial_number t) { running_.erase(t); }
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  bool compares_reports() const { return true; }
  MANTA_DECL std::string remark(double longest) const;

 private:
  struct series {
    std::map<double, double> losses;  ///< losses by the points at which they were reported
    double sum = 0;

    double mean() const { return sum / static_cast<double>(losses.size()); }
  };

  /// By how much a trial is worse than the best one, at each point where both have reported.
  std::vector<double> differences(const series& of) const;

  options options_;
  std::map<trial_number, series> running_;
  series best_;  ///< series of the best complete trial; empty: no trial is complete
  trial_number best_trial_ = 0;
  bool has_compared_ = false, has_missed_ = false;  ///< whether a report had a counterpart, and whether one had none
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/wilcoxon_stopping.ipp"
#endif
