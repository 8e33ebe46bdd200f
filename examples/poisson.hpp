// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A solver in plain MPI, as a program may have it already: a function that takes a
// communicator. Poisson's equation on the unit square by red-black SOR, the rows of
// the grid divided among the ranks.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace poisson {

constexpr int n = 63;  // inner points in each direction

/// Iterations until the largest update is below 1e-6, but not more than `most`, the same on every rank. The relaxation
/// factors are those of the red and of the black points.
inline int iterations(MPI_Comm comm, double red, double black, int most) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const double omega[2] = {red, black};
  const int first = n * rank / ranks, rows = n * (rank + 1) / ranks - first;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  constexpr int width = n + 2;
  std::vector<double> u(static_cast<std::size_t>((rows + 2) * width), 0.0);
  const auto at = [&](int i, int j) -> double& { return u[static_cast<std::size_t>(i * width + j)]; };

  for (int sweep = 1; sweep <= most; ++sweep) {
    double change = 0;
    for (int colour = 0; colour < 2; ++colour) {
      MPI_Sendrecv(&at(1, 0), width, MPI_DOUBLE, above, 1, &at(rows + 1, 0), width, MPI_DOUBLE, below, 1, comm,
                   MPI_STATUS_IGNORE);
      MPI_Sendrecv(&at(rows, 0), width, MPI_DOUBLE, below, 2, &at(0, 0), width, MPI_DOUBLE, above, 2, comm,
                   MPI_STATUS_IGNORE);
      for (int i = 1; i <= rows; ++i) {
        for (int j = 1 + (first + i + 1 + colour) % 2; j <= n; j += 2) {
          const double gauss_seidel = (at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) + 1.0 / (n * n)) / 4;
          const double step = omega[colour] * (gauss_seidel - at(i, j));
          at(i, j) += step;
          change = std::max(change, std::abs(step));
        }
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (change < 1e-6) return sweep;
  }
  return most;
}

}  // namespace poisson
