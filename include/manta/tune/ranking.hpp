// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which trial of an experiment is the best one, and the overview that rules of .stop_all look at.
#pragma once

#include <string>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

/// Compares by loss: the experiment's metric, negated if the experiment maximises it.
class ranking {
 public:
  static constexpr trial_number none = ~trial_number{0};

  MANTA_DECL void begin(const experiment& e);

  const std::string& metric() const { return metric_; }
  bool maximises() const { return sign_ < 0; }
  /// The loss of a metric's value, and the metric's value of a loss.
  double flipped(double x) const { return sign_ * x; }

  /// The number of the best trial; none if nobody has reported. Of several that are as good it is the one with the
  /// lowest number.
  trial_number best() const { return best_; }
  const overview& summary() const { return overview_; }

  MANTA_DECL void passed(double seconds);
  MANTA_DECL void count_report(double seconds);
  /// The trial reported a finite value.
  MANTA_DECL void reported(const trial_record& r, double value);
  /// The trial has failed for good.
  MANTA_DECL void failed(const trial_record& r, const std::vector<trial_record>& all);
  /// The trial has ended, in whatever way.
  MANTA_DECL void ended(const trial_record& r);
  /// A trial that had failed will be tried again.
  MANTA_DECL void revived(const trial_record& r, const std::vector<trial_record>& all);

 private:
  bool may_be_best(const trial_record& r) const;
  /// The best one of all is looked for again.
  void find_best(const std::vector<trial_record>& all);

  std::string metric_;
  double sign_ = 1;
  bool failed_may_be_best_ = false;
  trial_number best_ = none;
  overview overview_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/ranking.ipp"
#endif
