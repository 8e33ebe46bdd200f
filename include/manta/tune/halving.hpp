// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Successive halving in steps that all trials take together: every trial of a
// rung runs to the rung's mark and pauses; when all are there, the best go on.
// HyperBand runs several such brackets, from many short trials to few long ones
// (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, JMLR 18, 2018).
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// A rung: this number of trials runs until `at`.
struct rung {
  std::size_t trials = 0;
  double at = 0;
  friend bool operator==(const rung&, const rung&) = default;
};

/// The numbers of trials with which the brackets begin; two versions have been published.
enum class hyperband_sizes {
  pseudo_code,  ///< ceil((s_max + 1) / (s + 1) eta^s), as in Algorithm 1 of the paper (and in Ray)
  table         ///< floor((s_max + 1) / (s + 1)) eta^s, as in the paper's table
};

/// The rungs of all brackets for at most `max` per trial; the one with most trials first.
MANTA_DECL std::vector<std::vector<rung>> hyperband_brackets(double max, double eta,
                                                             hyperband_sizes sizes = hyperband_sizes::pseudo_code);

/// One bracket of trials that are halved together.
class halving_bracket {
 public:
  explicit halving_bracket(std::vector<rung> rungs) : rungs_(std::move(rungs)) {}

  bool has_room() const { return !closed_ && added_ < rungs_.front().trials; }
  bool finished() const { return members_.empty() && (closed_ || !has_room()); }
  bool holds(trial_number t) const { return members_.contains(t); }

  MANTA_DECL void add(trial_number t);
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void remove(trial_number t);
  /// No more trials will come: those that are there are all there will be.
  MANTA_DECL void close();
  /// One that has been chosen to go on.
  MANTA_DECL std::optional<action> resume();
  double mark() const { return rungs_[level_].at; }
  MANTA_DECL void take_dropped(std::vector<trial_number>& into);

 private:
  struct member {
    bool paused = false;
    double loss = 0;
  };

  void halve_if_all_are_here();

  std::vector<rung> rungs_;
  std::size_t level_ = 0;
  std::size_t added_ = 0;
  bool closed_ = false;
  std::map<trial_number, member> members_;
  std::vector<trial_number> ready_, dropped_;
};

/// HyperBand: the brackets of the table one after the other, again from the first when all are full. Trials that wait
/// do not hold a place. When no more trials come, brackets that are not full go on with those they have.
class hyperband {
 public:
  struct options {
    double max = 81;
    double eta = 3;
    hyperband_sizes sizes = hyperband_sizes::pseudo_code;
  };
  hyperband() : hyperband(options{}) {}
  explicit hyperband(options o) : table_(hyperband_brackets(o.max, o.eta, o.sizes)) {}
  /// Other brackets than the paper's.
  MANTA_DECL static hyperband of_brackets(std::vector<std::vector<rung>> table);

  MANTA_DECL void add(trial_number t, const config&);
  MANTA_DECL verdict report(trial_number t, double at, double loss);
  MANTA_DECL void remove(trial_number t);
  MANTA_DECL action next(bool may_add);
  MANTA_DECL double silent_until(trial_number t) const;
  MANTA_DECL std::vector<trial_number> take_dropped();
  std::size_t brackets_begun() const { return brackets_.size(); }

 private:
  halving_bracket& filling();
  void tidy(std::size_t b);

  std::vector<std::vector<rung>> table_;
  std::vector<halving_bracket> brackets_;
  std::size_t first_ = 0;  ///< those before it have finished
  std::map<trial_number, std::size_t> bracket_of_;
  std::vector<trial_number> dropped_;
};

/// Synchronous successive halving: `trials` run to `min`, the best 1/eta of them to eta times that, and so on up to
/// `max`; then the next `trials` begin.
class successive_halving {
 public:
  struct options {
    std::size_t trials = 27;
    double min = 1;
    double max = 27;
    double eta = 3;
  };
  successive_halving() : successive_halving(options{}) {}
  explicit successive_halving(options o) : brackets_(hyperband::of_brackets({rungs_of(o)})) {}

  MANTA_DECL static std::vector<rung> rungs_of(const options& o);

  void add(trial_number t, const config& c) { brackets_.add(t, c); }
  verdict report(trial_number t, double at, double loss) { return brackets_.report(t, at, loss); }
  void remove(trial_number t) { brackets_.remove(t); }
  action next(bool may_add) { return brackets_.next(may_add); }
  double silent_until(trial_number t) const { return brackets_.silent_until(t); }
  std::vector<trial_number> take_dropped() { return brackets_.take_dropped(); }

 private:
  hyperband brackets_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/halving.ipp"
#endif
