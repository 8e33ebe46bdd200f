// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P13, the floor with Eigen: the same headers, and a product of two matrices.
#include <Eigen/Dense>

#include "mpi.cpp"

double norm_of_product(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) {
  const Eigen::MatrixXd z = x * y;
  return z.norm();
}
