// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14 by hand: MPI_Init and one round trip.
//
//   mpirun -n 2 --bind-to core bench_start_mpi
#include <mpi.h>

#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const bench::stopwatch watch;
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool correct = rank > 1 || bench::ping_pong(rank, 1) >= 0;
  const double first = watch.seconds();
  MPI_Finalize();
  if (rank == 0) {
    start::report("first_task", ranks, "mpi", first);
    start::report("shut_down", ranks, "mpi", watch.seconds() - first);
  }
  return correct ? 0 : bench::failed("start", "a message came back wrong");
}
