// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P7 by hand: rank 0 gathers the 500 inputs of each task into a message to rank 1,
// which answers with the result; up to 64 tasks are under way.
//
//   mpirun -n 2 --bind-to core bench_edges_mpi [repetitions]
#include <mpi.h>

#include <vector>

#include "../common/mpi_main.hpp"
#include "problem.hpp"

namespace {

constexpr int window = 64;

bool drive() {
  std::vector<int> layer(edges::width, 0), following(edges::width);
  std::vector<std::vector<int>> inputs(window, std::vector<int>(edges::width));
  std::vector<MPI_Request> requests(window, MPI_REQUEST_NULL);
  for (int l = 0; l < edges::layers; ++l) {
    int answered = 0;
    const auto receive = [&] {
      MPI_Recv(&following[static_cast<std::size_t>(answered)], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++answered;
    };
    for (int i = 0; i < edges::width; ++i) {
      const auto slot = static_cast<std::size_t>(i % window);
      if (i - answered >= window) receive();
      MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
      inputs[slot] = layer;
      MPI_Isend(inputs[slot].data(), edges::width, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[slot]);
    }
    while (answered < edges::width) receive();
    layer = following;
  }
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  for (const int x : layer) {
    if (x != edges::layers) return false;
  }
  return true;
}

bool serve() {
  std::vector<int> inputs(edges::width);
  for (int i = 0; i < edges::width * edges::layers; ++i) {
    MPI_Recv(inputs.data(), edges::width, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int result = edges::next(inputs);
    MPI_Send(&result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "edges", [](int rank, int repetition) {
    if (rank == 1) return serve();
    const bench::stopwatch watch;
    const bool correct = drive();
    const double seconds = watch.seconds();
    if (repetition >= 0) bench::report("edges", "mpi", bench::million_per_second(edges::edges, seconds), "M/s");
    return correct;
  });
}
