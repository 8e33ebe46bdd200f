// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Two programs of two ranks each on the same two cores: rounds of eight tasks of 0.1 ms, all of which the one worker of
// a program runs. One program after the other, and both at once; in milliseconds a round, 0.8 of which is work. Each
// program has half of the ranks of MPI_COMM_WORLD, and nothing in common with the other.
//
//   mpirun -n 4 --oversubscribe bench_two_programs_manta [repetitions]
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../common/measure.hpp"
#include "../neighbours/problem.hpp"

namespace two_programs {

inline constexpr int rounds = 200;
inline constexpr int tasks = 8;

inline std::vector<std::uint64_t> expected_results() {
  std::vector<std::uint64_t> all;
  for (int i = 0; i < tasks; ++i) all.push_back(neighbours::work(static_cast<std::uint64_t>(i)));
  return all;
}

/// A barrier that leaves the core to others.
inline void meet() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) usleep(500);
}

/// Collective over all ranks. `play`: collective over the ranks of a program, returns the seconds of its rounds.
template <class Play>
void measure(const char* side, int repetitions, Play&& play) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int program = rank % 2;
  for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
    double alone = 0;
    for (int turn = 0; turn < 2; ++turn) {
      meet();
      if (turn == program) alone = play();
    }
    meet();
    double times[] = {alone, play()};
    meet();
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);  // of the slower program
    if (rank != 0 || repetition < 0) continue;
    bench::report("two_programs_alone", side, times[0] / rounds * 1e3, "ms");
    bench::report("two_programs", side, times[1] / rounds * 1e3, "ms");
  }
}

/// The ranks of this rank's program.
inline MPI_Comm ranks_of_program() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  return comm;
}

}  // namespace two_programs
