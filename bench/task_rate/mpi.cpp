// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1 by hand: the stripped limit (common/batched_calls.hpp), with a record
// allocated for each task (task_rate) and without one (task_rate_bare).
//
//   mpirun -n 2 --bind-to core bench_task_rate_mpi [repetitions]
#include <mpi.h>

#include "../common/batched_calls.hpp"
#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

/// False if a result is wrong. Collective; `figure` is null for a warm-up.
template <class Results>
bool measure(int rank, const char* figure) {
  if (rank == 1) {
    bench::channel<bench::reply, bench::call> driver(0);
    MPI_Barrier(MPI_COMM_WORLD);
    bench::serve_batched(driver, task_rate::tasks, task_rate::increment);
    MPI_Barrier(MPI_COMM_WORLD);
    return true;
  }
  bench::channel<bench::call, bench::reply> worker(1);
  MPI_Barrier(MPI_COMM_WORLD);
  task_rate::tally tally;
  const double seconds =
      bench::submit_batched<Results>(worker, task_rate::tasks, [&](int index, int value) { tally.add(index, value); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (!tally.correct()) return false;
  if (figure) bench::report(figure, "mpi", bench::million_per_second(task_rate::tasks, seconds), "M/s");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "task_rate", [](int rank, int repetition) {
    const bool allocated = measure<bench::allocated_results>(rank, repetition < 0 ? nullptr : "task_rate");
    return measure<bench::array_results>(rank, repetition < 0 ? nullptr : "task_rate_bare") && allocated;
  });
}
