// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What main of a program by hand is made of: MPI, the warm-up, the repetitions, and
// the exit code.
#pragma once

#include <cstdio>

#include <mpi.h>

#include "measure.hpp"

namespace bench {

/// Calls measure(rank, repetition) on every rank after a barrier, with repetition = -1, the warm-up, then 0, 1, and
/// so on. It returns false where a result is wrong. `ranks`: how many it needs; 0: any number. Returns what main is to return.
template <class Measure>
int mpi_main(int argc, char** argv, const char* figure, Measure&& measure, int ranks = 2,
             int thread_level = MPI_THREAD_SINGLE) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, thread_level, &provided);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool correct = provided >= thread_level;
  if (ranks == 0) ranks = size;
  for (int repetition = -1; size == ranks && repetition < repetitions(argc, argv); ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    correct &= measure(rank, repetition);
  }
  MPI_Finalize();
  if (size != ranks) {
    std::fprintf(stderr, "%s: needs %d ranks: mpirun -n %d\n", figure, ranks, ranks);
    return 1;
  }
  return correct ? 0 : failed(figure, "a result is wrong");
}

}  // namespace bench
