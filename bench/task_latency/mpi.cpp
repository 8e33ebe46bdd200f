// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2 by hand: a ping-pong of eight bytes with blocking calls (common/ping_pong.hpp).
//
//   mpirun -n 2 --bind-to core bench_task_latency_mpi [repetitions]
#include "../common/mpi_main.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "task_latency", [](int rank, int repetition) {
    const double seconds = bench::ping_pong(rank, task_latency::round_trips);
    if (rank == 0 && repetition >= 0)
      bench::report("task_latency", "mpi", bench::microseconds_each(task_latency::round_trips, seconds), "us");
    return seconds >= 0;
  });
}
