// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The limit of every round trip (P2, P3): eight bytes to rank 1 and back with
// blocking MPI_Send and MPI_Recv, nothing else. Any runtime that sends a message
// and waits for its answer pays at least this.
#pragma once

#include <cstdint>

#include <mpi.h>

#include "measure.hpp"

namespace bench {

/// Seconds for `count` round trips on rank 0, a negative number if one came back wrong; rank 1
/// answers and returns 0. Collective over the first two ranks of MPI_COMM_WORLD.
inline double ping_pong(int rank, int count) {
  std::int64_t value = 0;
  if (rank == 1) {
    for (int i = 0; i < count; ++i) {
      MPI_Recv(&value, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++value;
      MPI_Send(&value, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
    }
    return 0;
  }
  const stopwatch watch;
  for (int i = 0; i < count; ++i) {
    MPI_Send(&value, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double seconds = watch.seconds();
  return value == count ? seconds : -1;
}

}  // namespace bench
