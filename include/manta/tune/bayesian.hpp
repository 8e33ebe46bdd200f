// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bayesian optimisation with a Gaussian process (Snoek, Larochelle, Adams, NIPS
// 2012): the next trial is where most improvement is to be expected. For few
// parameters and expensive trials, from 15 to some hundreds of them.
#pragma once

#include "manta/tune/cube.hpp"
#include "manta/tune/gaussian_process.hpp"
#include "manta/tune/history.hpp"
#include "manta/tune/sobol.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/source_eigen.hpp"

namespace manta::tune {

/// The expected gain, on a logarithmic scale so that it has a slope far away from all good points: log E[max(best - y,
/// 0)] for y normal with this mean and deviation.
MANTA_DECL double log_expected_improvement(double best, double mean, double deviation);

class bayesian {
 public:
  static constexpr bool is_distinct = true;
  enum class acquisition { expected_improvement, confidence_bound };
  /// The value that a trial under way is assumed to have while the searcher chooses others.
  enum class pending { believer, lie_min, lie_mean, lie_max };
  struct options {
    acquisition by = acquisition::expected_improvement;
    double kappa = 2;  ///< of the confidence bound: mean - kappa deviations
    pending parallel = pending::believer;
    std::size_t startup = 0;  ///< points of a Sobol sequence first; 0: two for each parameter and one more
    std::size_t candidates = 1000;
    std::size_t most = 500;  ///< trials that are looked at: the newest and the best ones
  };
  bayesian() : bayesian(options{}) {}
  MANTA_DECL explicit bayesian(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  void add(trial_number t, const config& c) { history_.began(t, c); }
  void tell(trial_number t, double loss) { history_.ended(t, loss); }

 private:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;

  bool is_starting() const;
  /// Parameters change little from one trial to the next: they are fitted anew each time at first, later now and then.
  /// They depend on nothing but the trials that had ended by then, so that what was asked before a kill need not be
  /// fitted again.
  void plan_fit();

  /// The coordinates of a point for the kernel. Quantised numbers have their rounded value (Garrido-Merchan,
  /// Hernandez-Lobato 2020). A choice has one coordinate for each option, so that all options are equally far from each
  /// other.
  void features(const std::vector<double>& u, Eigen::Ref<vector> into) const;
  matrix features(const std::vector<std::vector<double>>& all) const;

  struct observations {
    std::vector<std::vector<double>> points;
    vector values;
    std::size_t best = 0;
  };
  /// Uses the first `count` trials that have ended.
  observations look(std::size_t count) const;
  void fit();

  std::vector<double> propose(random& r);

  /// Trials under way are points as well: with the value that is expected there, or a lie.
  void believe(const observations& seen);

  std::vector<double> near(const std::vector<double>& centre, double width, random& r) const;

  std::vector<double> acquire(const std::vector<std::vector<double>>& candidates, double incumbent) const;

  options options_;
  cube cube_;
  std::uint64_t seed_ = 0;
  std::size_t asked_ = 0, fitted_ = 0;  ///< parameters are those for the first `fitted_` trials that have ended
  bool is_fitted_ = false;              ///< or will be when they are needed
  Eigen::Index width_ = 0;
  history history_;
  sobol_sequence start_;
  gaussian_process process_{1};
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/bayesian.ipp"
#endif
