// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P10: what a gang of two ranks costs: an empty gang task of ranks that have met
// before, next to making a communicator by hand; and an allreduce of one
// number inside it, next to the same on a communicator of two ranks.
#pragma once

#include <mpi.h>

#include "../common/measure.hpp"

namespace gang {

inline constexpr int gangs = 20'000;
inline constexpr int reductions = 100'000;

/// Microseconds of one allreduce; a negative number if a sum was wrong.
inline double allreduce_us(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  bool correct = true;
  MPI_Barrier(comm);
  const bench::stopwatch watch;
  for (int i = 0; i < reductions; ++i) {
    double mine = i, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    correct &= sum == i * static_cast<double>(size);
  }
  const double us = bench::microseconds_each(reductions, watch.seconds());
  return correct ? us : -1;
}

}  // namespace gang
