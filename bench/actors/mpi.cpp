// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P12 by hand: batched calls that have rank 1 make an object each and answer with
// its place in a table there, then batched calls of a method.
//
//   mpirun -n 2 --bind-to core bench_actors_mpi [repetitions]
#include <mpi.h>

#include <memory>
#include <vector>

#include "../common/batched_calls.hpp"
#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

/// Seconds; below 0 if an answer is wrong.
double drive() {
  bench::channel<bench::call, bench::reply> worker(1);
  MPI_Barrier(MPI_COMM_WORLD);
  bool correct = true;
  const bench::stopwatch watch;
  bench::submit_batched<bench::allocated_results>(worker, actors::actors,
                                                  [&](int i, int place) { correct &= place == i; });
  bench::submit_batched<bench::allocated_results>(worker, actors::actors,
                                                  [&](int i, int value) { correct &= value == i + 1; });
  const double seconds = watch.seconds();
  MPI_Barrier(MPI_COMM_WORLD);
  return correct ? seconds : -1;
}

bool serve() {
  bench::channel<bench::reply, bench::call> driver(0);
  std::vector<std::unique_ptr<actors::counter>> objects;
  MPI_Barrier(MPI_COMM_WORLD);
  bench::serve_batched(driver, actors::actors, [&](int start) {
    objects.push_back(std::make_unique<actors::counter>(start));
    return static_cast<int>(objects.size()) - 1;
  });
  bench::serve_batched(driver, actors::actors,
                       [&](int place) { return objects[static_cast<std::size_t>(place)]->next(); });
  MPI_Barrier(MPI_COMM_WORLD);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "actors", [](int rank, int repetition) {
    if (rank == 1) return serve();
    const double seconds = drive();
    if (repetition >= 0) bench::report("actors", "mpi", 1e3 * seconds, "ms");
    return seconds >= 0;
  });
}
