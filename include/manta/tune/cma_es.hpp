// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772): a
// normal distribution that moves, and learns its shape, from the ranks of the
// losses. cma_strategy is the method on vectors; cma_es searches a space with it.
// For numbers, from some dozens of trials on.
#pragma once

#include <Eigen/Core>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <Eigen/Eigenvalues>

#include "manta/tune/cube.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/source_eigen.hpp"

namespace manta::tune {

/// Ask for points, tell a generation of them with their losses. The equations are numbered as in the tutorial.
class cma_strategy {
 public:
  using vector = Eigen::VectorXd;

  cma_strategy() = default;
  MANTA_DECL cma_strategy(vector mean, double sigma, std::size_t lambda = 0);

  std::size_t lambda() const { return lambda_; }
  const vector& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  /// The longest half-axis of the distribution.
  double extent() const { return sigma_ * lengths_.maxCoeff(); }
  MANTA_DECL double deviation(std::size_t i) const;

  MANTA_DECL vector ask(random& r) const;
  /// Points of one generation, at least half of lambda, best first.
  MANTA_DECL void tell(const std::vector<vector>& best_first);

 private:
  vector mean_;
  double sigma_ = 1;
  std::size_t lambda_ = 4, generation_ = 0;
  vector weights_;
  double mu_eff_ = 1, c_sigma_ = 0, d_sigma_ = 1, c_c_ = 0, c_1_ = 0, c_mu_ = 0, expected_norm_ = 1;
  vector p_sigma_, p_c_, lengths_;
  Eigen::MatrixXd covariance_, basis_;
};

/// Begins in the middle of the space, or at the best trial of which it is told before it is asked. A generation is
/// complete when lambda of its trials have ended, in any order; those that end later count for nothing. Trials that
/// fail are its worst, those that break a constraint the next. Nothing is learned from a generation of which all fail:
/// the next one is drawn from the whole space, until some succeed, and the best of these is the new mean. When the
/// distribution has shrunk to a point it begins again at random, with twice the lambda (Auger, Hansen 2005).
class cma_es {
 public:
  static constexpr bool is_distinct = true, has_one_objective = true;
  struct options {
    double sigma = 1.0 / 6;  ///< step size, as a part of the width of the space
    std::size_t lambda = 0;  ///< trials of a generation; 0: 4 + 3 ln n
  };
  cma_es() : cma_es(options{}) {}
  explicit cma_es(options o) : options_(o) {}

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  /// Takes the place of what was asked for that trial; other points from elsewhere count only before the first one is
  /// asked.
  MANTA_DECL void add(trial_number t, const config& c);
  MANTA_DECL void tell(trial_number t, const outcome& o);

 private:
  Eigen::Index size() const { return static_cast<Eigen::Index>(cube_.dimensions()); }
  /// The next point, and the configuration that it gives.
  std::pair<cma_strategy::vector, config> draw();
  cma_strategy::vector anywhere(random& r) const;
  cma_strategy::vector position(const config& c) const;
  void restart(cma_strategy::vector mean, std::size_t lambda);
  /// A point in the cube: drawn until it is inside, in the end moved to the border.
  cma_strategy::vector inside(random& r) const;

  options options_;
  cube cube_;
  cma_strategy strategy_;
  std::uint64_t seed_ = 0, asked_ = 0, generation_ = 0;
  bool is_lost_ = false;  ///< all of the last generation failed
  std::map<trial_number, std::pair<std::uint64_t, cma_strategy::vector>> open_;
  struct told {
    double violation, loss;
    cma_strategy::vector at;
  };
  /// Begins at this trial, if it is the best of those that came from elsewhere.
  void begin_at_best(trial_number t, const outcome& o);

  std::vector<told> told_;                               ///< those of this generation that have ended
  std::map<trial_number, cma_strategy::vector> before_;  ///< points from elsewhere that have not ended
  std::optional<told> start_;                            ///< the best one from elsewhere
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/cma_es.ipp"
#endif
