// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Short tasks beside processes that compute, with manta.
//
//   mpirun -n 2 --bind-to core bench_neighbours_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "problem.hpp"

int main(int argc, char** argv) {
  const neighbours::neighbour beside;
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    const int ranks = manta::size(), tasks = neighbours::tasks(ranks);
    std::vector<std::uint64_t> expected;
    for (int i = 0; i < tasks; ++i) expected.push_back(neighbours::work(static_cast<std::uint64_t>(i)));
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const bench::stopwatch watch;
      for (int round = 0; round < neighbours::rounds; ++round) {
        std::vector<manta::future<std::uint64_t>> results;
        for (int i = 0; i < tasks; ++i)
          results.push_back(manta::async<neighbours::work>(static_cast<std::uint64_t>(i)));
        if (manta::get(results) != expected) return bench::failed("neighbours", "a task's result is wrong");
      }
      if (repetition >= 0) neighbours::report(ranks, "manta", watch.seconds());
    }
    return 0;
  });
}
