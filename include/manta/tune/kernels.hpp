// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Densities of parameters, from the trials that have them. Two searchers choose by them: tpe and bohb.
#pragma once

#include <optional>
#include <vector>

#include "manta/tune/source.hpp"
#include "manta/tune/space.hpp"

namespace manta::tune::detail {

/// A mixture of kernels over the unit interval, one at each observation and a wide one for what is known before.
/// Kernels are as wide as the larger gap to a neighbour (Bergstra). They count by their heights, not by their areas, as
/// in Optuna 3.1: by areas, narrow kernels attract too much (in six dimensions the median regret is a third larger:
/// Hartmann-6, 500 seeds).
class parzen {
 public:
  MANTA_DECL parzen(const domain& d, const std::vector<double>& at, const std::vector<double>& weights);

  MANTA_DECL double draw(random& r) const;
  /// The logarithm of the density at u, but for a constant (of the probability of its cell, for quantised
  /// parameters and choices).
  MANTA_DECL double log_density(double u) const;

 private:
  struct kernel {
    double mean, deviation, weight;
    double below = 0, mass = 1, height = 0, half = 0;
  };

  template <class All, class Weight>
  static std::size_t pick(const All& all, Weight weight, random& r);
  void widen(std::size_t n);

  const domain* domain_;        ///< domain of the caller
  std::vector<double> shares_;  ///< shares of the options of a choice
  double cell_ = 0;
  std::vector<kernel> kernels_;
};

/// The densities of the parameters of some trials, one parameter after the other. Where a parameter has been
/// chosen, trials that lie near count for the parameters that follow, the others less: so parameters that only work
/// together are found.
class conditional_densities {
 public:
  explicit conditional_densities(std::vector<const config*> trials) : trials_(std::move(trials)) {}

  /// The density of this parameter, from the trials that have it. It refers to the parameter's domain.
  MANTA_DECL parzen of(const parameter& p);
  /// The reach within which trials lie near a position of the parameter that was asked for last.
  MANTA_DECL double reach(double u) const;
  /// Notes that this parameter, which was asked for last, is chosen.
  MANTA_DECL void choose(const parameter& p, double u, double reach);
  /// Weights that the trials have from the start, the newest ones last; without these, old trials count less.
  void weigh(std::vector<double> weights) { given_ = std::move(weights); }

 private:
  std::vector<const config*> trials_;
  std::vector<double> given_, coupling_;
  std::vector<std::size_t> with_it_;  ///< the trials that have the parameter which was asked for last
  std::vector<double> positions_;     ///< theirs
};

/// Chooses each parameter where the ratio of two densities is largest: of the good trials, and of the others.
/// `candidates` are drawn for each parameter. `joint`: parameters are chosen for each other.
MANTA_DECL config promising(const space& where, conditional_densities good, conditional_densities others,
                            std::size_t candidates, bool joint, random& r);

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/kernels.ipp"
#endif
