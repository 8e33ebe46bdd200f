// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P3 by hand: the ping-pong for the round trip, the stripped batches for the
// pipelined calls; rank 1 keeps the object and calls its method.
//
//   mpirun -n 2 --bind-to core bench_actor_calls_mpi [repetitions]
#include <mpi.h>

#include "../common/batched_calls.hpp"
#include "../common/measure.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

namespace {

/// Seconds on rank 0, a negative number if a result was wrong. Collective.
double pipelined(int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
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
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool correct = size == 2;
  for (int repetition = -1; size == 2 && repetition < bench::repetitions(argc, argv); ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double waited = bench::ping_pong(rank, actor_calls::round_trips);
    const double at_once = pipelined(rank);
    correct &= waited >= 0 && at_once >= 0;
    if (rank == 1 || repetition < 0) continue;
    bench::report("actor_round_trip", "mpi", bench::microseconds_each(actor_calls::round_trips, waited), "us");
    bench::report("actor_pipelined", "mpi", bench::million_per_second(actor_calls::pipelined_calls, at_once), "M/s");
  }
  MPI_Finalize();
  if (size != 2) return bench::failed("actor_calls", "needs two ranks: mpirun -n 2");
  return correct ? 0 : bench::failed("actor_calls", "a result is wrong");
}
