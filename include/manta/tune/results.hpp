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
#include "manta/tune/importance.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

class results {
 public:
  MANTA_DECL explicit results(const study& s);

  std::size_t size() const { return trials_.size(); }
  auto begin() const { return trials_.begin(); }
  auto end() const { return trials_.end(); }
  const trial_record& operator[](std::size_t trial) const { return trials_.at(trial); }

  bool has_best() const { return best_.has_value(); }
  /// The trial that has reported the best value. Throws if none has reported one, and says why trials failed.
  MANTA_DECL const trial_record& best() const;
  /// The best trial's value of the metric. Throws if there is none.
  double best_value() const { return sign_ * best().best_loss; }
  double value_of(const trial_record& t) const { return sign_ * t.best_loss; }
  /// The folder of a trial, as trial::folder() gave it there: results.folder_of(results.best()) + "/model.npz". Throws
  /// if the experiment has none.
  MANTA_DECL std::string folder_of(const trial_record& t) const;
  /// The checkpoint nearest to the best trial's best value that is on disk. Throws if there is none.
  MANTA_DECL checkpoint best_checkpoint() const;

  MANTA_DECL std::size_t count(status s) const;
  /// Why the experiment stopped before all trials had been run; empty if it did not.
  const std::string& stopped_because() const { return why_; }
  MANTA_DECL std::vector<std::pair<std::string, double>> importance(const space& where) const;

  /// A row for each trial: number, state, reports, value, configuration, all metrics of its best report.
  MANTA_DECL std::string to_csv() const;
  MANTA_DECL void to_csv(const std::string& path) const;

 private:
  std::vector<trial_record> trials_;
  std::optional<trial_number> best_;
  double sign_;
  std::string metric_, folder_, why_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/results.ipp"
#endif
