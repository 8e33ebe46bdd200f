// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P10 by hand, the allreduce of a program that calls MPI from more than one
// thread, as manta does while a gang computes: MPI takes its locks then.
//
//   mpirun -n 2 --bind-to core bench_gang_mpi_threads [repetitions]
#include "../common/mpi_main.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const auto measure = [](int rank, int repetition) {
    const double reduce_us = gang::allreduce_us(MPI_COMM_WORLD);
    if (rank == 0 && repetition >= 0) bench::report("gang_allreduce_threads", "mpi", reduce_us, "us");
    return reduce_us >= 0;
  };
  return bench::mpi_main(argc, argv, "gang", measure, 2, MPI_THREAD_MULTIPLE);
}
