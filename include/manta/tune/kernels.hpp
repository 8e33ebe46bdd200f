// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Densities of parameters, from the trials that have them: of each parameter alone, and of whole configurations. tpe
// chooses by them.
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

/// Configurations with the weights that they count by.
struct weighted_configs {
  std::vector<const config*> all;    ///< the newest ones last
  std::vector<double> weights = {};  ///< empty: old ones count less than new ones

  std::vector<double> all_weights() const;
  std::vector<double> weights_of(const std::vector<std::size_t>& which) const;
};

/// A mixture of kernels over whole configurations, one at each that is given, and an even one for what is known before.
/// The parameters of a drawn one come from the same kernel, so those that only work together stay together. On each
/// axis a kernel is as wide as the nearest kernels are far: narrow across a valley, and long along it.
class joint_density {
 public:
  /// A coordinate for each axis; NaN where a configuration does not have that parameter.
  using point = std::vector<double>;
  using axes = std::vector<parameter>;

  /// The axes belong to the caller.
  joint_density(const axes& on, std::vector<point> at, const std::vector<double>& weights);

  /// The number of a kernel, by the weights; that after the last one is the even one.
  std::size_t pick(random& r) const;
  /// A coordinate from that kernel. It is even where the configuration of the kernel does not have the parameter.
  double draw(std::size_t kernel, std::size_t axis, random& r) const;
  double log_density(const point& u) const;

 private:
  struct kernel {
    point at, width;
    point log_height;  ///< on the axes of numbers
  };
  bool is_choice(std::size_t axis) const { return (*axes_)[axis].where.type() == domain::kind::choice; }
  double distance(const point& a, const point& b) const;
  point widths(std::size_t of, const std::vector<point>& all) const;

  const axes* axes_;
  std::vector<double> weights_;  ///< their sum is 1; the last one is that of the even kernel
  std::vector<kernel> kernels_;
};

/// The most promising one of `candidates` drawn values for each parameter alone, or of as many whole configurations if
/// `joint`: where the ratio of two densities is largest, of the good configurations, and of the others.
MANTA_DECL config promising(const space& where, const weighted_configs& good, const weighted_configs& others,
                            std::size_t candidates, bool joint, random& r);

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/kernels.ipp"
#endif
