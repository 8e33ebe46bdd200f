// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P3 by hand: the ping-pong for the round trip, the stripped batches for the
// pipelined calls; rank 1 keeps the object and calls its method.
//
//   mpirun -n 2 --bind-to core bench_actor_calls_mpi [repetitions]
#include <mpi.h>

#include "../common/batched_calls.hpp"
#include "../common/mpi_main.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

namespace {

/// Seconds on rank 0, a negative number if a result was wrong. Collective.
double pipelined(int rank) {
  if (rank == 1) {
    bench::channel<bench::reply, bench::call> driver(0);
    MPI_Barrier(MPI_COMM_WORLD);
    actor_calls::counter counter;
    bench::serve_batched(driver, actor_calls::pipelined_calls, [&](int x) { return counter.add(x); });
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  }
  bench::channel<bench::call, bench::reply> worker(1);
  MPI_Barrier(MPI_COMM_WORLD);
  bool correct = true;
  const double seconds = bench::submit_batched<bench::allocated_results>(
      worker, actor_calls::pipelined_calls, [&](int index, int value) { correct &= value == 2 * index; });
  MPI_Barrier(MPI_COMM_WORLD);
  return correct ? seconds : -1;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "actor_calls", [](int rank, int repetition) {
    const double waited = bench::ping_pong(rank, actor_calls::round_trips);
    const double at_once = pipelined(rank);
    if (rank == 0 && repetition >= 0) {
      bench::report("actor_round_trip", "mpi", bench::microseconds_each(actor_calls::round_trips, waited), "us");
      bench::report("actor_pipelined", "mpi", bench::million_per_second(actor_calls::pipelined_calls, at_once), "M/s");
    }
    return waited >= 0 && at_once >= 0;
  });
}
