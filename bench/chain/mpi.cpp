// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P16 by hand: a round trip a link (common/ping_pong.hpp), which is what a chain
// costs unless its tasks are sent ahead of their inputs.
//
//   mpirun -n 2 --bind-to core bench_chain_mpi [repetitions]
#include <mpi.h>

#include "../common/measure.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool correct = true;
  for (int repetition = -1; repetition < bench::repetitions(argc, argv); ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = bench::ping_pong(rank, chain::links);
    correct &= seconds >= 0;
    if (rank == 0 && repetition >= 0)
      bench::report("chain", "mpi", bench::million_per_second(chain::links, seconds), "M/s");
  }
  MPI_Finalize();
  return correct ? 0 : bench::failed("chain", "a message came back wrong");
}
