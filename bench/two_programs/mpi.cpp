// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The same by hand: a round's numbers go to the worker in one message, and their results come back in one.
#include "problem.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm mine = two_programs::ranks_of_program();
  int rank = 0;
  MPI_Comm_rank(mine, &rank);
  const std::vector<std::uint64_t> expected = two_programs::expected_results();
  bool right = true;
  two_programs::measure("mpi", bench::repetitions(argc, argv), [&] {
    const bench::stopwatch watch;
    std::vector<std::uint64_t> numbers(two_programs::tasks);
    for (int round = 0; round < two_programs::rounds; ++round) {
      if (rank == 0) {
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
        MPI_Send(numbers.data(), two_programs::tasks, MPI_UINT64_T, 1, 0, mine);
        MPI_Recv(numbers.data(), two_programs::tasks, MPI_UINT64_T, 1, 0, mine, MPI_STATUS_IGNORE);
        right = numbers == expected && right;
      } else {
        MPI_Recv(numbers.data(), two_programs::tasks, MPI_UINT64_T, 0, 0, mine, MPI_STATUS_IGNORE);
        for (std::uint64_t& x : numbers) x = neighbours::work(x);
        MPI_Send(numbers.data(), two_programs::tasks, MPI_UINT64_T, 0, 0, mine);
      }
    }
    return watch.seconds();
  });
  MPI_Comm_free(&mine);
  MPI_Finalize();
  return right ? 0 : bench::failed("two_programs", "a task's result is wrong");
}
