// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P10 by hand: a communicator made and freed for each piece of work, and an
// allreduce on one.
//
//   mpirun -n 2 --bind-to core bench_gang_mpi [repetitions]
#include "../common/mpi_main.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "gang", [](int rank, int repetition) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const bench::stopwatch watch;
    for (int i = 0; i < gang::gangs; ++i) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_create_group(MPI_COMM_WORLD, all, 0, &comm);
      MPI_Comm_free(&comm);
    }
    const double create_us = bench::microseconds_each(gang::gangs, watch.seconds());
    MPI_Group_free(&all);
    const double reduce_us = gang::allreduce_us(MPI_COMM_WORLD);
    if (rank == 0 && repetition >= 0) {
      bench::report("gang_empty", "mpi", create_us, "us");
      bench::report("gang_allreduce", "mpi", reduce_us, "us");
    }
    return reduce_us >= 0;
  });
}
