// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// NSGA-II (Deb, Pratap, Agarwal, Meyarivan, IEEE Transactions on Evolutionary Computation 6, 2002): the best of all
// trials are the parents of the next ones; of several objectives those of the front are the best, and of these the
// ones that lie alone. For hundreds of trials and more. Each new trial has parents of its own among those that have
// ended by then, so nobody waits for a generation.
#pragma once

#include "manta/tune/cube.hpp"
#include "manta/tune/history.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class nsga2 {
 public:
  static constexpr bool is_distinct = true;
  struct options {
    std::size_t population = 50;  ///< parents
    std::size_t startup = 0;      ///< trials at random first; 0: half a population
    double crossover = 0.9;       ///< probability of two parents
    double mutation = 0;          ///< probability of a parameter to change; 0: one parameter in the mean
    double spread = 20;           ///< the larger, the nearer children are to their parents
  };
  nsga2() : nsga2(options{}) {}
  MANTA_DECL explicit nsga2(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  void add(trial_number t, const config& c) { history_.began(t, c); }
  MANTA_DECL void tell(trial_number t, const outcome& o);

 private:
  config child(random& r) const;
  /// The better of two parents drawn at random.
  const config& parent(random& r) const;
  double crossed(const domain& d, double a, double b, random& r) const;
  double mutated(const domain& d, double u, random& r) const;

  options options_;
  cube cube_;
  std::uint64_t seed_ = 0, asked_ = 0;
  history history_;
  std::vector<config> parents_;  ///< best first
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/nsga2.ipp"
#endif
