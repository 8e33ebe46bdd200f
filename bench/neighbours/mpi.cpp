// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The same by hand: every worker has four tasks a round at least, in one message each.
//
//   mpirun -n 2 --bind-to core bench_neighbours_mpi [repetitions]
#include <vector>

#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

/// A worker's turn: numbers as many as rank 0 sends, their results in the same order.
void answer(std::vector<std::uint64_t>& numbers) {
  const int count = static_cast<int>(numbers.size());
  MPI_Recv(numbers.data(), count, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::uint64_t& x : numbers) x = neighbours::work(x);
  MPI_Send(numbers.data(), count, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const neighbours::neighbour beside;
  std::vector<std::uint64_t> expected;
  return bench::mpi_main(
      argc, argv, "neighbours",
      [&expected](int rank, int repetition) {
        int ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        const int tasks = neighbours::tasks(ranks), workers = ranks - 1;
        // Worker w has the tasks from first(w) up to first(w + 1).
        const auto first = [&](int worker) { return static_cast<std::size_t>((worker - 1) * tasks / workers); };
        bool correct = true;
        if (rank == 0 && expected.empty())
          for (int i = 0; i < tasks; ++i) expected.push_back(neighbours::work(static_cast<std::uint64_t>(i)));
        const bench::stopwatch watch;
        for (int round = 0; round < neighbours::rounds; ++round) {
          if (rank != 0) {
            std::vector<std::uint64_t> mine(first(rank + 1) - first(rank));
            answer(mine);
            continue;
          }
          std::vector<std::uint64_t> all(static_cast<std::size_t>(tasks));
          for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
          for (int pass = 0; pass < 2; ++pass) {
            for (int worker = 1; worker < ranks; ++worker) {
              std::uint64_t* part = all.data() + first(worker);
              const int count = static_cast<int>(first(worker + 1) - first(worker));
              if (pass == 0) {
                MPI_Send(part, count, MPI_UINT64_T, worker, 0, MPI_COMM_WORLD);
              } else {
                MPI_Recv(part, count, MPI_UINT64_T, worker, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
              }
            }
          }
          correct &= all == expected;
        }
        if (rank == 0 && repetition >= 0) neighbours::report(ranks, "mpi", watch.seconds());
        return correct;
      },
      0);
}
