// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Successive halving without waiting for each other: ASHA (Li, Jamieson,
// Rostamizadeh, Gonina, Ben-Tzur, Hardt, Recht, Talwalkar, MLSys 2020).
// asha stops a trial at a mark if it is not among the best seen there so far.
// asha_promotion pauses every trial at each mark, and whenever a place is free
// promotes the best one that waits, else begins a new one: it keeps more trials in
// memory, and the first ones have no advantage.
#pragma once

#include <map>
#include <set>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The stopping variant: the only one of Ray. A trial that reaches a mark goes on if its loss is not above the
/// 1/eta-quantile of those that reached it before; the first always does. With several brackets a trial is
/// given one at random, whose marks begin `eta` times later than those of the one before; brackets with more
/// marks are more probable.
class asha {
 public:
  struct options {
    double max = 100;  ///< a trial that reaches it is complete
    double grace = 1;  ///< the first mark
    double eta = 4;
    int brackets = 1;
  };
  asha() : asha(options{}) {}
  MANTA_DECL explicit asha(options o);

  void begin(const space&, std::uint64_t seed, std::size_t) { seed_ = seed; }
  /// The marks of a bracket, ascending.
  MANTA_DECL std::vector<double> marks(std::size_t bracket = 0) const;

  MANTA_DECL void add(trial_number t, const config&);
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  void remove(trial_number t) { trials_.erase(t); }
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  MANTA_DECL double silent_until(trial_number t) const;
  std::string remark(double longest) const { return detail::marks_beyond(longest, marks(), "asha"); }

 private:
  struct mark {
    double at;
    std::vector<double> losses;  ///< losses of all trials that were judged here, ascending
  };
  struct place {
    std::size_t bracket = 0;
    std::size_t next = 0;  ///< the first mark not reached
  };

  options options_;
  std::uint64_t seed_ = 0;
  std::vector<std::vector<mark>> brackets_;
  std::map<trial_number, place> trials_;
};

/// The promotion variant, Algorithm 2 of the paper.
class asha_promotion {
 public:
  struct options {
    double max = 100;  ///< the last mark is the largest grace * eta^k up to it; a trial that reaches that is complete
    double grace = 1;
    double eta = 4;
  };
  asha_promotion() : asha_promotion(options{}) {}
  MANTA_DECL explicit asha_promotion(options o);

  void add(trial_number t, const config&) { level_of_[t] = 0; }
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void remove(trial_number t);
  MANTA_DECL action next(bool may_add);
  MANTA_DECL double silent_until(trial_number t) const;
  MANTA_DECL std::string remark(double longest) const;

 private:
  using result = std::pair<double, trial_number>;
  /// All results at a mark, cut into the best floor(n / eta) and the rest; logarithmic time each.
  struct level {
    double at = 0;
    std::set<result> best, rest, promotable;  ///< promotable: the best that have not been promoted
    std::set<trial_number> promoted;

    std::size_t size() const { return best.size() + rest.size(); }
    void insert(const result& r, double eta);
    void enter(const result& r);
    /// Notes that a trial has failed: its result still counts, but the trial cannot be promoted.
    void withdraw(trial_number t);
  };

  double eta_;
  std::vector<level> levels_;
  std::map<trial_number, std::size_t> level_of_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/asha.ipp"
#endif
