// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14 by hand: MPI_Init and one round trip.
//
//   mpirun -n 2 --bind-to core bench_start_mpi
#include <mpi.h>

#include "../common/measure.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const bench::stopwatch watch;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool correct = bench::ping_pong(rank, 1) >= 0;
  if (rank == 0) bench::report("first_task", "mpi", 1e3 * watch.seconds(), "ms");
  MPI_Finalize();
  return correct ? 0 : bench::failed("start", "a message came back wrong");
}
