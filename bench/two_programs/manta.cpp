// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <manta/manta.hpp>

#include "problem.hpp"

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, manta::wanted_thread_level(), &level);
  MPI_Comm mine = two_programs::ranks_of_program();
  const std::vector<std::uint64_t> expected = two_programs::expected_results();
  bool right = true;
  {
    manta::runtime program(mine);
    two_programs::measure("manta", bench::repetitions(argc, argv), [&] {
      return program.run([&] {
        const bench::stopwatch watch;
        for (int round = 0; round < two_programs::rounds; ++round) {
          std::vector<manta::future<std::uint64_t>> results;
          for (int i = 0; i < two_programs::tasks; ++i) {
            results.push_back(manta::async<neighbours::work>(static_cast<std::uint64_t>(i)));
          }
          right = manta::get(results) == expected && right;
        }
        return watch.seconds();
      });
    });
  }
  MPI_Comm_free(&mine);
  MPI_Finalize();
  return right ? 0 : bench::failed("two_programs", "a task's result is wrong");
}
