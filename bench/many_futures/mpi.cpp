// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P5 by hand: what travels, without futures. The arguments go to rank 1 in one
// message and come back as a sum, the results come in one message, and the tasks
// are batched calls with a record each (common/batched_calls.hpp).
//
//   mpirun -n 2 --bind-to core bench_many_futures_mpi [repetitions]
#include <mpi.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "../common/batched_calls.hpp"
#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

using namespace many_futures;

bool take_arguments(int rank) {
  std::vector<int> values(arguments);
  std::int64_t total = 0;
  if (rank == 1) {
    MPI_Recv(values.data(), arguments, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    total = sum(values);
    MPI_Send(&total, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
    return true;
  }
  std::iota(values.begin(), values.end(), 0);
  MPI_Send(values.data(), arguments, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(&total, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return total == sum_below(arguments);
}

bool take_results(int rank) {
  std::vector<int> values(results);
  int count = results;
  if (rank == 1) {
    MPI_Recv(&count, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::iota(values.begin(), values.end(), 0);
    MPI_Send(values.data(), count, MPI_INT, 0, 0, MPI_COMM_WORLD);
    return true;
  }
  MPI_Send(&count, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(values.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return sum(values) == sum_below(results);
}

/// Seconds; below 0 if the sum is wrong.
double run_tasks(int rank) {
  double seconds = 0;
  std::int64_t total = 0;
  if (rank == 1) {
    bench::channel<bench::reply, bench::call> driver(0);
    MPI_Barrier(MPI_COMM_WORLD);
    bench::serve_batched(driver, tasks, increment);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
  }
  bench::channel<bench::call, bench::reply> worker(1);
  MPI_Barrier(MPI_COMM_WORLD);
  seconds = bench::submit_batched<bench::allocated_results>(worker, tasks, [&](int, int value) { total += value; });
  MPI_Barrier(MPI_COMM_WORLD);
  return total == sum_below(tasks + 1) ? seconds : -1;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "many_futures", [](int rank, int repetition) {
    const bench::stopwatch arguments_watch;
    bool correct = take_arguments(rank);
    const double arguments_seconds = arguments_watch.seconds();
    MPI_Barrier(MPI_COMM_WORLD);
    const bench::stopwatch results_watch;
    correct &= take_results(rank);
    const double results_seconds = results_watch.seconds();
    MPI_Barrier(MPI_COMM_WORLD);
    const double tasks_seconds = run_tasks(rank);
    if (rank == 0 && repetition >= 0) {
      bench::report("arguments", "mpi", milliseconds(arguments_seconds), "ms");
      bench::report("unpacked", "mpi", milliseconds(results_seconds), "ms");
      bench::report("get_all", "mpi", milliseconds(tasks_seconds), "ms");
    }
    return correct && tasks_seconds >= 0;
  });
}
