// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The model of BOHB (Falkner, Klein, Hutter, ICML 2018): densities of good and of
// other configurations, from the trials that have been trained longest. To be
// used with the scheduler hyperband, whose short trials teach it early.
//
//   {.searcher = tune::bohb(), .scheduler = tune::hyperband({.max = 81})}
#pragma once

#include <map>

#include "manta/tune/cube.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class bohb {
 public:
  static constexpr bool is_distinct = true, has_one_objective = true;
  struct options {
    double good = 0.15;          ///< share of the observations at a budget that are good
    double at_random = 1.0 / 3;  ///< part of the configurations that are drawn at random
    std::size_t candidates = 64;
    double widen = 3;  ///< factor by which kernels are widened when one draws from them
  };
  bohb() : bohb(options{}) {}
  explicit bohb(options o) : options_(o) {}

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  void add(trial_number t, const config& c) { points_[t] = cube_.position(c); }
  MANTA_DECL void report(trial_number t, double at, double loss);
  MANTA_DECL void tell(trial_number t, const outcome& o);

 private:
  struct observation {
    double violation, loss;
    std::vector<double> at;
  };
  using kernels = std::vector<const std::vector<double>*>;

  /// Observations that are kept of a budget, and budgets: so a suggestion costs the same after a
  /// hundred thousand trials.
  static constexpr std::size_t most_kept = 1000;

  /// The largest budget with enough trials; it never goes down, so what was seen at smaller ones is forgotten.
  bool choose_budget();
  static void forget(std::map<trial_number, observation>& trials);

  std::vector<double> propose(random& r) const;

  std::size_t options_of(std::size_t axis) const;
  /// The normal-reference rule for each axis; at least 0.001.
  std::vector<double> widths(const kernels& points) const;
  double log_density(const kernels& points, const std::vector<double>& width, const std::vector<double>& u) const;
  std::vector<double> draw(const kernels& points, const std::vector<double>& width, random& r) const;

  options options_;
  cube cube_;
  space space_;
  std::uint64_t seed_ = 0, asked_ = 0;
  double budget_ = 0;
  std::map<trial_number, std::vector<double>> points_;
  std::map<double, std::map<trial_number, observation>> seen_;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/bohb.ipp"
#endif
