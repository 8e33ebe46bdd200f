// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A Gaussian process over points of few dimensions: what is the value elsewhere,
// and how sure is that? Matern kernel with a length for each dimension; its
// parameters are those most probable a posteriori (Rasmussen, Williams, "Gaussian
// Processes for Machine Learning", 2006, algorithm 2.1 and section 5.4.1).
#pragma once

#include <Eigen/Cholesky>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <Eigen/Core>

#include "manta/tune/random.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/source_eigen.hpp"

namespace manta::tune {

namespace detail {
/// Squared distances between the columns of two matrices, by dot products: the work is one product of matrices.
MANTA_DECL Eigen::ArrayXXd squared_distances(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y);
}  // namespace detail

class gaussian_process {
 public:
  using vector = Eigen::VectorXd;
  using matrix = Eigen::MatrixXd;  ///< points, one in each column

  /// Logarithms of the lengths, of the variance and of the noise's variance, for values that are standardised.
  struct parameters {
    vector log_lengths;
    double log_variance = 0, log_noise = std::log(1e-4);
  };

  MANTA_DECL explicit gaussian_process(Eigen::Index dimensions);
  const parameters& hyper() const { return parameters_; }

  /// Finds the parameters for these values: from where they are, and from `starts` random points. O(n^3) for each step.
  MANTA_DECL void fit(const matrix& points, const vector& values, int starts, int steps, random& r);
  /// Takes other data, and keeps the parameters: O(n^3 / 6).
  MANTA_DECL void condition(const matrix& points, const vector& values);

  /// Mean and deviation (of the function, without noise) at each column.
  MANTA_DECL void predict(const matrix& at, vector& mean, vector& deviation) const;

 private:
  static matrix scale(const matrix& points, const vector& log_lengths);
  static matrix kernel(const matrix& x, const matrix& y, double a);

  void set_data(const matrix& points, const vector& values);
  /// With a little on the diagonal if the matrix is not quite positive definite, more and more until it is.
  static bool decompose(const matrix& k, Eigen::LLT<matrix>& factor);
  void factorise();

  /// Logarithm of the posterior of the parameters, and its gradient by (log lengths, log variance, log noise).
  double posterior(const parameters& p, vector& gradient) const;
  /// BFGS with a halving line search; returns the posterior reached.
  double climb(parameters& p, int steps) const;

  parameters parameters_;
  matrix points_, scaled_, lower_;  // the last: of the kernel's Cholesky factor, with something above
  vector values_, alpha_;
  double offset_ = 0, deviation_ = 1;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/gaussian_process.ipp"
#endif
