// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an experiment has found.
//
//   const tune::results r = tune::run<train>(space, {...});
//   double lr = r.best().parameters["lr"];
//   r.to_csv("trials.csv");
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/tune/checkpoint.hpp"
#include "manta/tune/fanova.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

class results;
namespace detail {
/// Why there is no best trial, as an error tells it.
MANTA_DECL std::string why_no_best(const results& r, const std::string& folder, const std::vector<bound>& limits);
}  // namespace detail

class results {
 public:
  MANTA_DECL explicit results(const study& s);

  std::size_t size() const { return trials_.size(); }
  auto begin() const { return trials_.begin(); }
  auto end() const { return trials_.end(); }
  const trial_record& operator[](std::size_t trial) const { return trials_.at(trial); }

  bool has_best() const { return best_.has_value() && objectives_.size() == 1; }
  /// The trial that has reported the best value, of those that keep the constraints. Throws if there is none, and says
  /// why trials failed; and if there are several objectives, which have a front.
  MANTA_DECL const trial_record& best() const;
  /// The best trial's value of the metric. Throws if there is none.
  double best_value() const { return objectives_.front().flipped(best().best_loss); }
  /// A trial's value of the first objective.
  double value_of(const trial_record& t) const { return objectives_.front().flipped(t.best_loss); }
  /// The numbers of the trials that keep the constraints and that no other trial dominates: of one objective, the best.
  /// In the order of the first objective, its best first.
  MANTA_DECL std::vector<trial_number> front() const;
  /// The volume that the front dominates, seen from this point: a value of each objective that is worse than all that
  /// count, in the order of .minimise and then .maximise.
  MANTA_DECL double hypervolume(const std::vector<double>& from) const;
  const std::vector<objective>& objectives() const { return objectives_; }

  /// The folder of a trial, as trial::folder() gave it there: results.folder_of(results.best()) + "/model.npz". Throws
  /// if the experiment has none.
  MANTA_DECL std::string folder_of(const trial_record& t) const;
  /// The checkpoint nearest to the best trial's best value that is on disk. Throws if there is none.
  checkpoint best_checkpoint() const { return checkpoint_of(best()); }
  /// With .repeats, that of one of the runs.
  MANTA_DECL checkpoint checkpoint_of(const trial_record& t, int repeat = 0) const;
  /// With .repeats, the standard error of a trial's value of the first objective, which is a mean over
  /// the runs. NaN without.
  MANTA_DECL double standard_error_of(const trial_record& t) const;

  MANTA_DECL std::size_t count(status s) const;
  /// Why the experiment stopped before all trials had been run; empty if it did not.
  const std::string& stopped_because() const { return why_; }
  /// Why the experiment ended, whatever it was: all trials have run, all configurations have been
  /// tried, or what stopped it.
  const std::string& ended_because() const { return end_; }
  MANTA_DECL std::vector<std::pair<std::string, double>> importance(const space& where) const;
  /// What each parameter and each pair of them explains, by fanova.
  MANTA_DECL std::vector<effect> effects(const space& where, const fanova_options& o = {}) const;

  /// A row for each trial: number, state, reports, seconds; begin and end in seconds since the experiment's begin, the
  /// rank and the machine on which it ran last; configuration, all metrics of its best report, notes; with constraints
  /// whether it keeps them, with several objectives whether it is in the front; why it ended.
  MANTA_DECL std::string to_csv() const;
  MANTA_DECL void to_csv(const std::string& path) const;

 private:
  std::vector<trial_record> trials_;
  std::optional<trial_number> best_;
  std::vector<objective> objectives_;
  std::vector<bound> limits_;
  std::string folder_, why_, end_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/results.ipp"
#endif
