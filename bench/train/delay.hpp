// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A slower network than this machine's: the two collectives of an exchange of gradients count as complete only when a
// time has passed since their start. This program's functions stand in front of MPI's by its profiling interface.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

class delay {
 public:
  using clock = std::chrono::steady_clock;
  static inline std::chrono::nanoseconds length{0};

  static void note(MPI_Request request) {
    if (length.count() > 0 && request != MPI_REQUEST_NULL) young_.push_back({request, clock::now() + length});
  }
  static bool holds(const MPI_Request* requests, int count) {
    if (young_.empty()) return false;
    std::erase_if(young_, [now = clock::now()](const entry& e) { return e.until <= now; });
    const bool held = std::any_of(requests, requests + count, [](MPI_Request r) {
      return std::any_of(young_.begin(), young_.end(), [r](const entry& e) { return e.request == r; });
    });
    int is_there = 0;  // what is under way still makes progress
    if (held) PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
    return held;
  }

 private:
  struct entry {
    MPI_Request request;
    clock::time_point until;
  };
  static inline std::vector<entry> young_;
};

}  // namespace bench

extern "C" {
int MPI_Ialltoallv(const void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type, void* in,
                   const int* in_counts, const int* in_places, MPI_Datatype in_type, MPI_Comm comm,
                   MPI_Request* request) {
  const int code =
      PMPI_Ialltoallv(out, out_counts, out_places, out_type, in, in_counts, in_places, in_type, comm, request);
  bench::delay::note(*request);
  return code;
}
int MPI_Iallgatherv(const void* out, int count, MPI_Datatype out_type, void* in, const int* in_counts,
                    const int* in_places, MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Iallgatherv(out, count, out_type, in, in_counts, in_places, in_type, comm, request);
  bench::delay::note(*request);
  return code;
}
int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  if (bench::delay::holds(requests, count)) return *done = 0, MPI_SUCCESS;
  return PMPI_Testall(count, requests, done, statuses);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (bench::delay::holds(request, 1)) return *done = 0, MPI_SUCCESS;
  return PMPI_Test(request, done, status);
}
}
