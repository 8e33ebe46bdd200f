// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P4 by hand: MPI_Send of the coefficients, MPI_Recv into a matrix made for
// them, as for every value that comes; then into one that has been there
// before, whose pages need not be found. And an empty round trip.
//
//   mpirun -n 2 --bind-to core bench_array_mpi [repetitions]
#include <mpi.h>

#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

constexpr int count = static_cast<int>(array::rows * array::rows);

void send(const array::matrix& m) {
  MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(m.data(), count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}
/// Seconds until it is there and summed; below 0 if the sum is wrong.
double receive(array::matrix& m, double value) {
  const bench::stopwatch watch;
  MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  m.resize(array::rows, array::rows);
  MPI_Recv(m.data(), count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const bool right = array::is_sum(m.sum(), value);
  return right ? watch.seconds() : -1e9;
}
double round_trip_us(int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  const bench::stopwatch watch;
  double x = 0;
  for (int i = 0; i < array::round_trips; ++i) {
    if (rank == 0) MPI_Send(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  return bench::microseconds_each(array::round_trips, watch.seconds());
}

}  // namespace

int main(int argc, char** argv) {
  array::matrix kept;
  return bench::mpi_main(argc, argv, "array", [&](int rank, int repetition) {
    double fresh = 0, warm = 0;
    const double value = repetition + 2;
    for (int i = 0; i < array::transfers; ++i) {
      if (rank == 1) {
        const array::matrix m = array::made(value);
        MPI_Barrier(MPI_COMM_WORLD);  // it is timed from when the matrix is there
        send(m);
        send(m);
      } else {
        array::matrix m;
        MPI_Barrier(MPI_COMM_WORLD);
        fresh += receive(m, value);
        warm += receive(kept, value);
      }
    }
    const double us = round_trip_us(rank);
    if (rank == 1) return true;
    if (repetition >= 0) {
      bench::report("array_get", "mpi", array::gigabytes_per_second(fresh), "GB/s");
      bench::report("array_get_warm", "mpi", array::gigabytes_per_second(warm), "GB/s");
      bench::report("array_view", "mpi", us, "us");
    }
    return fresh > 0 && warm > 0;
  });
}
