// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which trial of an experiment is the best one, and the overview that rules of .stop_all look at.
#pragma once

#include <string>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/front.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

/// The objectives of an experiment, those that are minimised first.
MANTA_DECL std::vector<objective> objectives_of(const experiment& e);

/// Compares by loss: the metric, negated if the experiment maximises it; trials that keep all constraints come before
/// those that break one.
class ranking {
 public:
  static constexpr trial_number none = ~trial_number{0};

  MANTA_DECL void begin(const experiment& e);

  const std::vector<objective>& objectives() const { return objectives_; }
  /// The limits of metrics that the best trial has to keep.
  const std::vector<bound>& limits() const { return limits_; }
  /// The first objective: its metric, and its direction.
  const std::string& metric() const { return objectives_.front().metric; }
  bool maximises() const { return objectives_.front().maximised; }
  /// The loss of a value of the first objective, and the value of its loss.
  double flipped(double x) const { return objectives_.front().flipped(x); }
  /// Whether the value of a trial is the mean of its reports.
  bool counts_mean() const { return counts_mean_; }
  /// The loss of a trial at its last report: that of the report, or the mean of all.
  double so_far(const trial_record& r) const { return counts_mean_ ? r.best_loss : r.loss; }
  bool has_several() const { return objectives_.size() > 1; }
  /// Takes the report into the record if it counts: it is better than those before, the mean counts, or there are
  /// several objectives.
  MANTA_DECL bool takes(trial_record& r, const metrics& m) const;

  /// The number of the best trial in the first objective; none if nobody has reported a value that keeps the
  /// constraints. Of several that are as good it is the one with the lowest number.
  trial_number best() const { return best_; }
  const overview& summary() const { return overview_; }

  MANTA_DECL void passed(double seconds);
  MANTA_DECL void count_report(double seconds);
  /// The trial has reported, and its record holds what counts.
  MANTA_DECL void reported(const trial_record& r);
  /// The trial has failed for good.
  MANTA_DECL void failed(const trial_record& r, const std::vector<trial_record>& all);
  /// The trial has ended, in whatever way.
  MANTA_DECL void ended(const trial_record& r);
  /// A trial that had failed will be tried again.
  MANTA_DECL void revived(const trial_record& r, const std::vector<trial_record>& all);

 private:
  bool may_be_best(const trial_record& r) const;
  /// Makes the trial the best one if it is better than the best one so far.
  void compare_with_best(const trial_record& r);
  void note_in_front(const trial_record& r);
  /// The best one of all is looked for again.
  void find_best(const std::vector<trial_record>& all);

  std::vector<objective> objectives_;
  std::vector<bound> limits_;
  std::vector<loss_vector> front_;  ///< front of the trials that have ended
  bool failed_may_be_best_ = false, counts_mean_ = false;
  trial_number best_ = none;
  overview overview_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/ranking.ipp"
#endif
