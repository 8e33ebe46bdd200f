// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The footprint without manta: a rank after MPI_Init and a barrier.
//
//   mpirun -n 2 --bind-to core bench_footprint_mpi
#include <mpi.h>

#include "../common/measure.hpp"
#include "../common/process.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) bench::report("idle_rank_memory", "mpi", 1e-6 * bench::resident_bytes(), "MB");
  MPI_Finalize();
  return 0;
}
