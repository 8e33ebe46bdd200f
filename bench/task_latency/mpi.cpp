// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2 by hand: a ping-pong of eight bytes with blocking calls (common/ping_pong.hpp).
//
//   mpirun -n 2 --bind-to core bench_task_latency_mpi [repetitions]
#include <mpi.h>

#include "../common/measure.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool correct = size == 2;
  for (int repetition = -1; size == 2 && repetition < bench::repetitions(argc, argv); ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = bench::ping_pong(rank, task_latency::round_trips);
    correct &= seconds >= 0;
    if (rank == 0 && repetition >= 0)
      bench::report("task_latency", "mpi", bench::microseconds_each(task_latency::round_trips, seconds), "us");
  }
  MPI_Finalize();
  if (size != 2) return bench::failed("task_latency", "needs two ranks: mpirun -n 2");
  return correct ? 0 : bench::failed("task_latency", "a message came back wrong");
}
