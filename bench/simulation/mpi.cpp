// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P15 by hand, in rounds: each rank does one rollout, then all add up their steps.
// simulation_rounds is what rounds come to if neither the sum nor waking up takes
// any time: the limit of bulk synchrony, whatever the machine does meanwhile.
//
//   mpirun -n 8 --oversubscribe bench_simulation_mpi [repetitions]
#include <mpi.h>

#include "problem.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bool correct = ranks == simulation::simulators;
  for (int repetition = 0; correct && repetition < bench::repetitions(argc, argv); ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const bench::stopwatch watch;
    long steps = 0;
    for (int round = 0; round < simulation::rounds; ++round) {
      const long mine = simulation::simulate(round * ranks + rank);
      long sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      steps += sum;
    }
    const double seconds = watch.seconds();
    correct &= steps == simulation::all_steps();
    if (rank != 0) continue;
    bench::report("simulation", "mpi", simulation::thousand_per_second(steps, seconds), "k/s");
    bench::report("simulation_rounds", "mpi", simulation::thousand_per_second(steps, simulation::seconds_of_rounds()),
                  "k/s");
  }
  MPI_Finalize();
  return correct ? 0 : bench::failed("simulation", "needs eight ranks, or a rollout was lost");
}
