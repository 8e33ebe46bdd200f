// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P16 by hand: a round trip a link (common/ping_pong.hpp), which is what a chain
// costs unless its tasks are sent ahead of their inputs.
//
//   mpirun -n 2 --bind-to core bench_chain_mpi [repetitions]
#include "../common/mpi_main.hpp"
#include "../common/ping_pong.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "chain", [](int rank, int repetition) {
    const double seconds = bench::ping_pong(rank, chain::links);
    if (rank == 0 && repetition >= 0)
      bench::report("chain", "mpi", bench::million_per_second(chain::links, seconds), "M/s");
    return seconds >= 0;
  });
}
