// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rounds of short tasks while another process computes on each core: four tasks of 0.1 ms for each rank, submitted by
// rank 0, which reads all results before the next round. In milliseconds a round, with the other processes taking part
// of every core; on 2 ranks the one that works would take 0.8 ms alone on its core.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "../common/measure.hpp"

namespace neighbours {

inline constexpr int rounds = 50;
inline int tasks(int ranks) { return 4 * ranks; }

/// A chain of multiplications, some 0.1 ms.
inline std::uint64_t work(std::uint64_t x) {
  for (int i = 0; i < 100'000; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/// A process that computes, for as long as this lives, where the rank is one of the first of its node: one a core.
/// To be made before MPI is initialised.
class neighbour {
 public:
  neighbour() {
    const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    if (local == nullptr || std::atoi(local) >= sysconf(_SC_NPROCESSORS_ONLN)) return;
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    volatile std::uint64_t x = 1;
    while (getppid() == parent) x = work(x);
    _exit(0);
  }
  ~neighbour() {
    if (child_ > 0) kill(child_, SIGKILL);
  }
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;

 private:
  pid_t child_ = -1;
};

inline void report(int ranks, const char* program, double seconds) {
  bench::report(("neighbours_" + std::to_string(ranks)).c_str(), program, seconds / rounds * 1e3, "ms");
}

}  // namespace neighbours
