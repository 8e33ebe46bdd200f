// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The port by which channels send their batches with MPI.
#pragma once

#include <cstddef>

#include "batch.hpp"
#include "mpi.hpp"

namespace manta::net {

class mpi_port {
 public:
  using request = MPI_Request;

  explicit mpi_port(MPI_Comm comm) : comm_(comm) {}

  /// Starts a send. A send to a rank that has died counts as complete, and its data is lost.
  void start(request& r, const std::byte* data, std::size_t bytes, int to, bool synchronous) const {
    const auto length = static_cast<int>(bytes);
    const bool alive = synchronous
                           ? check_alive(MPI_Issend(data, length, MPI_BYTE, to, batch_tag, comm_, &r), "MPI_Issend")
                           : check_alive(MPI_Isend(data, length, MPI_BYTE, to, batch_tag, comm_, &r), "MPI_Isend");
    if (!alive) r = MPI_REQUEST_NULL;
  }
  static bool complete(request& r) {
    int is_complete = 0;
    const bool alive = check_alive(MPI_Test(&r, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    return !alive || is_complete != 0;
  }
  static void wait(request& r) noexcept { MPI_Wait(&r, MPI_STATUS_IGNORE); }
  static bool test(request& r) noexcept {
    int is_complete = 1;
    MPI_Test(&r, &is_complete, MPI_STATUS_IGNORE);
    return is_complete != 0;
  }

 private:
  MPI_Comm comm_;
};

}  // namespace manta::net
