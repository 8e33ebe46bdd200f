// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Patience: a trial stops when it has not improved for a number of reports. With a scheduler inside, a trial that this
// one would stop goes on as long as it improves.
//
//   tune::patience_stopping({.reports = 10, .least = 0.001})
//   tune::patience_stopping({.reports = 5, .inside = tune::percentile_stopping()})
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class patience_stopping {
 public:
  struct options {
    std::size_t reports = 10;   ///< number of reports without an improvement after which a trial stops
    double least = 0;           ///< least improvement that counts, since the last one
    double grace = 0;           ///< no trial is stopped before this point
    any_scheduler inside = {};  ///< says which trials are to be stopped; none: all that do not improve
  };
  patience_stopping() : patience_stopping(options{}) {}
  MANTA_DECL explicit patience_stopping(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed, std::size_t trials);
  MANTA_DECL void resize(std::size_t trials);
  MANTA_DECL void add(trial_number t, const config& c);
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void complete(trial_number t);
  MANTA_DECL void remove(trial_number t);
  bool compares_reports() const { return has_inside() && options_.inside->compares_reports(); }
  MANTA_DECL action next(bool may_add);
  MANTA_DECL double silent_until(trial_number t) const;
  MANTA_DECL std::vector<trial_number> take_dropped();
  MANTA_DECL std::string nothing_kept();
  MANTA_DECL std::string remark(double longest) const;

 private:
  struct course {
    double best = infinity;     ///< best value of the last improvement
    double last = -infinity;    ///< the point of the last report
    std::size_t waited = 0;     ///< reports since then
    bool is_condemned = false;  ///< the scheduler inside has stopped the trial and forgotten it
    std::string why = {};       ///< reason that the scheduler inside has given
  };

  /// Asks the scheduler inside about a report.
  verdict ask_inside(trial_number t, course& c, double at, double loss);
  bool has_inside() const { return static_cast<bool>(options_.inside); }

  options options_;
  std::map<trial_number, course> running_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/patience_stopping.ipp"
#endif
