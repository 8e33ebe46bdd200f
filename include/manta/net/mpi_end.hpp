// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The end of MPI in this process, as MPI_Finalize announces it: it deletes the attributes of MPI_COMM_SELF before it
// does anything else.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/net/mpi.hpp"

namespace manta::net {

class mpi_end {
 public:
  /// From now on until MPI_Finalize, manta-run takes an end of this process with status 0 for a failure, since the
  /// other ranks would wait for it. Does nothing when called again. Local.
  MANTA_DECL static void watch();
  /// A rank has died. From now on this rank frees no MPI object that other ranks would have to free too, and the
  /// process may end without MPI_Finalize, which might wait for the dead rank for ever. `dead`: ranks of `comm`.
  MANTA_DECL static void give_up(MPI_Comm comm, const std::vector<std::uint32_t>& dead);
  /// The first rank of the communicator that is known to have died before the last give_up(); -1: none.
  MANTA_DECL static int first_dead(MPI_Comm comm);
  /// The exit status of a process that calls MPI_Finalize after give_up(): it ends there. 0 at first.
  static void set_status(int status) { status_ = status; }

 private:
  /// An exception is caught nowhere, as one that has left a run: rank 0 says it once, and the job ends with status 1.
  [[noreturn]] MANTA_DECL static void end_uncaught();
  static int finalize_begins();  ///< MPI_Finalize has been called: ends the process if a rank has died.

  static inline bool is_watched_ = false;
  static inline int status_ = 0;
  static inline std::vector<int> dead_;                    // ranks of MPI_COMM_WORLD
  static inline std::terminate_handler before_ = nullptr;  // what ends the program for other reasons
};

}  // namespace manta::net

#ifndef MANTA_COMPILED
#include "manta/net/mpi_end.ipp"
#endif
