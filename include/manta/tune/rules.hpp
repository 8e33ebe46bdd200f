// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rules by which the trials of an experiment end, and the experiment itself. Part of the course.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/ranking.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/stop_reason.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

/// Each running trial has rules of its own, which may remember its reports.
class rules {
 public:
  MANTA_DECL void begin(const experiment& e);

  void start(trial_number t) { running_.emplace(t, of_trials_); }
  /// Forgets a trial's rules; false if the trial did not run.
  bool leave(trial_number t) { return running_.erase(t) > 0; }
  bool is_running(trial_number t) const { return running_.contains(t); }
  std::size_t running_count() const { return running_.size(); }

  /// The time before which no rule ends the trial.
  MANTA_DECL double silent_until(trial_number t) const;
  /// Asks the rules of a trial about its report, up to the first one that ends it, and returns why it does.
  MANTA_DECL std::optional<std::string> judge(const progress& p, stop_reason& stop);
  /// Asks the rules of the experiment.
  MANTA_DECL void judge_all(const ranking& ranks, stop_reason& stop) const;

  /// Notes which metrics a trial has reported.
  MANTA_DECL void note_reported(const metrics& m);
  /// Stops the experiment if a rule looks at a metric that no trial has reported, although this trial has come so far.
  MANTA_DECL void miss_metrics(const trial_record& r, stop_reason& stop) const;

 private:
  std::vector<stop_rule> of_trials_;
  std::vector<experiment_rule> of_all_;
  std::unordered_map<trial_number, std::vector<stop_rule>> running_;
  std::vector<std::string> unreported_;  ///< metrics that rules look at and nobody has reported
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/rules.ipp"
#endif
