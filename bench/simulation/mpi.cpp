// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P15 by hand, in rounds: each rank does one rollout, then all add up their steps.
// simulation_rounds is what rounds come to if neither the sum nor waking up takes
// any time: the limit of bulk synchrony, whatever the machine does meanwhile.
//
//   mpirun -n 8 --oversubscribe bench_simulation_mpi [repetitions]
#include <mpi.h>

#include "../common/mpi_main.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const auto measure = [](int rank, int repetition) {
    if (repetition < 0) return true;  // nothing to warm up
    const bench::stopwatch watch;
    long steps = 0;
    for (int round = 0; round < simulation::rounds; ++round) {
      const long mine = simulation::simulate(round * simulation::simulators + rank);
      long sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
      steps += sum;
    }
    const double seconds = watch.seconds();
    if (rank == 0) {
      bench::report("simulation", "mpi", simulation::thousand_per_second(steps, seconds), "k/s");
      bench::report("simulation_rounds", "mpi", simulation::thousand_per_second(steps, simulation::seconds_of_rounds()),
                    "k/s");
    }
    return steps == simulation::all_steps();
  };
  return bench::mpi_main(argc, argv, "simulation", measure, simulation::simulators);
}
