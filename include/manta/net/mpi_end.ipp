// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/net/mpi_end.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "manta/base/launcher.hpp"
#include "manta/net/mpi.hpp"

namespace manta::net {

MANTA_DECL void mpi_end::watch() {
  if (std::exchange(is_watched_, true)) return;
  int key = MPI_KEYVAL_INVALID;
  const auto on_delete = [](MPI_Comm, int, void*, void*) { return finalize_begins(); };
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, nullptr), "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  ++base::launcher::get().page().unfinished;
}

MANTA_DECL void mpi_end::give_up() {
  if (std::exchange(mpi_is_given_up(), true)) return;
  if (is_watched_) --base::launcher::get().page().unfinished;
}

MANTA_DECL int mpi_end::finalize_begins() {
  if (!mpi_is_given_up()) {
    --base::launcher::get().page().unfinished;
    return MPI_SUCCESS;
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::fprintf(stderr,
                 "manta: MPI_Finalize would wait for the rank that has died, so each rank ends here, with status %d\n",
                 status_);
  }
  std::exit(status_);
}

}  // namespace manta::net
