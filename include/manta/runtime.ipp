// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What has to hold where a runtime is made.
#pragma once

#include <cstdio>
#include <utility>

#include "manta/runtime.hpp"

namespace manta {

MANTA_DECL exec::engine_options runtime::settings(MPI_Comm comm, const runtime_options& options, std::string mistake) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    throw error("manta: runtime: MPI is not initialised; call MPI_Init_thread first, or use manta::run");
  }
  if (comm == MPI_COMM_NULL) {
    throw error(
        "manta: runtime: the communicator is MPI_COMM_NULL; only its members may make a runtime on a communicator");
  }
  int is_between_groups = 0;
  MPI_Comm_test_inter(comm, &is_between_groups);
  if (is_between_groups != 0) {
    throw error(
        "manta: runtime: the communicator is an intercommunicator; pass one of its groups, or merge them first by "
        "MPI_Intercomm_merge");
  }
  if (const int dead = net::mpi_end::first_dead(comm); dead >= 0) {
    throw error(
        base::text("manta: runtime: rank {} of the communicator has died in an earlier runtime, and would never "
                   "take part; go on with that runtime, or make a communicator of the others",
                   dead));
  }
  if (exec::engine::current() != nullptr) {
    throw error("manta: a run was started inside a run on this rank; finish the outer one first");
  }
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  int size = 1;
  MPI_Comm_size(comm, &size);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static bool has_complained = false;
  if (rank == 0 && !std::exchange(has_complained, true)) std::fputs(detail::unknown_settings().c_str(), stderr);
  return detail::effective(options, level, size == 1, std::move(mistake));
}

}  // namespace manta
