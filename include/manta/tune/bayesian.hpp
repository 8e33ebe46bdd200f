// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Bayesian optimisation with a Gaussian process (Snoek, Larochelle, Adams, NIPS
// 2012): the next trial is where most improvement is to be expected. For few
// parameters and expensive trials, from 15 to some hundreds of them. Each constraint has
// a process of its own, and the improvement counts as much as the constraints are
// likely to be kept (Gardner et al., ICML 2014). So has each objective.
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
    double kappa = 2;  ///< kappa of the confidence bound: mean - kappa deviations
    pending parallel = pending::believer;
    std::size_t startup = 0;  ///< trials before it learns, at points of a Sobol sequence; 0: two for each parameter and
                              ///< one more. Known results count
    std::size_t candidates = 1000;
    std::size_t most = 500;  ///< trials that are looked at: the newest and the best ones
  };
  bayesian() : bayesian(options{}) {}
  MANTA_DECL explicit bayesian(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number t);
  MANTA_DECL void again(trial_number t, const config& c);
  void add(trial_number t, const config& c) { history_.began(t, c); }
  void tell(trial_number t, const outcome& o) { history_.ended(t, o); }

 private:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;
  using points = std::vector<std::vector<double>>;

  /// What is known: a row of `values` for each process, first those of the objectives, then those of the constraints.
  struct observations {
    points at;
    matrix values;
    std::size_t objectives = 1;
    std::vector<bool> is_feasible;
    std::size_t best = 0;  ///< a good one, around which candidates are drawn
  };
  /// What is looked for: the improvement of one number that all objectives make, over the least known one.
  struct aim {
    double incumbent = infinity;  ///< infinite while nothing feasible is known
    double spread = 1;            ///< spread of the values of the first objective
    // For several objectives, the largest of the weighted distances from the ideal point counts (Knowles, IEEE
    // Transactions on Evolutionary Computation 10, 2006), with weights that are drawn anew each time.
    vector weights, ideal;

    double of(const vector& losses) const;
  };

  bool is_starting() const;
  /// Parameters change little from one trial to the next: they are fitted anew each time at first, later now and
  /// then. They depend on nothing but the trials that had ended by then, so that what was asked before a kill need
  /// not be fitted again.
  void plan_fit();

  /// The coordinates of a point for the kernel. Quantised numbers have their rounded value (Garrido-Merchan,
  /// Hernandez-Lobato 2020). A choice has one coordinate for each option, so that all options are equally far
  /// from each other.
  void features(const std::vector<double>& u, Eigen::Ref<vector> into) const;
  matrix features(const points& all) const;

  /// Uses the first `count` trials that have ended.
  observations look(std::size_t count) const;
  void fit();

  std::vector<double> propose(random& r);
  aim choose_aim(const observations& seen, random& r) const;
  points candidates(const observations& seen, random& r) const;
  /// The best of the candidates, refined by steps that become smaller.
  std::vector<double> climb(points from, const aim& to, random& r) const;

  /// Trials under way are points as well: with the value that is expected there, or a lie.
  void believe(const observations& seen);

  /// A point in the neighbourhood that is allowed; nothing if none was found.
  std::optional<std::vector<double>> near(const std::vector<double>& centre, double width, random& r) const;

  std::vector<double> acquire(const points& all, const aim& to) const;

  options options_;
  cube cube_;
  std::uint64_t seed_ = 0;
  std::size_t asked_ = 0, fitted_ = 0;  ///< parameters are those for the first `fitted_` trials that have ended
  bool is_fitted_ = false;              ///< or will be when they are needed
  Eigen::Index width_ = 0;
  history history_;
  sobol_sequence start_;
  std::size_t objectives_ = 1;
  std::vector<gaussian_process> processes_;  ///< processes of the objectives, then of the constraints
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/bayesian.ipp"
#endif
