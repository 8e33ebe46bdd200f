// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P9 by hand: each rank has a block of points and runs step after step. It sends
// every other rank one message a step, with the results that are needed there.
//
//   mpirun -n 2 --bind-to core bench_patterns_mpi [repetitions] [pattern=...] [...]
#include <mpi.h>

#include <string>
#include <vector>

#include "problem.hpp"

namespace {

using namespace patterns;

/// Of one step and one other rank: the points whose results come from there and go there.
struct exchange {
  std::vector<int> come, go;
};
using plan = std::vector<std::vector<exchange>>;

plan plan_of(int rank, int ranks) {
  plan all(static_cast<std::size_t>(here.steps), std::vector<exchange>(static_cast<std::size_t>(ranks)));
  const auto add = [](std::vector<int>& points, int p) {
    if (std::find(points.begin(), points.end(), p) == points.end()) points.push_back(p);
  };
  for (int step = 1; step < here.steps; ++step) {
    for (int point = 0; point < width_of(step); ++point) {
      for (const int p : inputs_of(step, point)) {
        const int maker = rank_of(step - 1, p, ranks), taker = rank_of(step, point, ranks);
        if (maker == taker) continue;
        auto& there = all[static_cast<std::size_t>(step)];
        if (maker == rank) add(there[static_cast<std::size_t>(taker)].go, p);
        if (taker == rank) add(there[static_cast<std::size_t>(maker)].come, p);
      }
    }
  }
  return all;
}

/// Seconds of the whole graph.
double run(const plan& all, int rank, int ranks, int iterations) {
  const auto each = static_cast<std::size_t>(here.bytes) / sizeof(stamp);
  const auto size = static_cast<std::size_t>(here.width) * each;
  std::vector<stamp> before(size), mine(size);
  std::vector<std::vector<stamp>> in(static_cast<std::size_t>(ranks), std::vector<stamp>(size)), out = in;
  std::vector<MPI_Request> requests;
  const auto at = [&](int point) { return static_cast<std::ptrdiff_t>(static_cast<std::size_t>(point) * each); };
  MPI_Barrier(MPI_COMM_WORLD);
  const bench::stopwatch watch;
  for (int step = 0; step < here.steps; ++step) {
    requests.clear();
    for (int r = 0; r < ranks; ++r) {
      const auto other = static_cast<std::size_t>(r);
      const exchange& e = all[static_cast<std::size_t>(step)][other];
      if (!e.come.empty()) {
        requests.emplace_back();
        MPI_Irecv(in[other].data(), static_cast<int>(e.come.size() * each), MPI_INT64_T, r, 0, MPI_COMM_WORLD,
                  &requests.back());
      }
      if (!e.go.empty()) {
        auto to = out[other].begin();
        for (const int p : e.go) to = std::copy_n(before.begin() + at(p), each, to);
        requests.emplace_back();
        MPI_Isend(out[other].data(), static_cast<int>(e.go.size() * each), MPI_INT64_T, r, 0, MPI_COMM_WORLD,
                  &requests.back());
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int r = 0; r < ranks; ++r) {
      auto from = in[static_cast<std::size_t>(r)].begin();
      for (const int p : all[static_cast<std::size_t>(step)][static_cast<std::size_t>(r)].come) {
        std::copy_n(from, each, before.begin() + at(p));
        from += static_cast<std::ptrdiff_t>(each);
      }
    }
    for (int point = 0; point < width_of(step); ++point) {
      if (rank_of(step, point, ranks) != rank) continue;
      for (const int p : inputs_of(step, point)) {
        if (!is_output(before[static_cast<std::size_t>(at(p))], step - 1, p)) wrong_input(step, point);
      }
      compute(iterations_of(step, point, iterations));
      std::fill_n(mine.begin() + at(point), each, stamp_of(step, point));
    }
    before.swap(mine);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = watch.seconds();
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // so that all ranks search in the same way
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  read_arguments(argc, argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<named_case> cases_here = cases(argc, argv);
  for (int repetition = 0; repetition < bench::repetitions(argc, argv); ++repetition) {
    for (const named_case& c : cases_here) {
      take_up(c);
      const plan all = plan_of(rank, ranks);
      const double rate = peak(MPI_COMM_WORLD);
      run(all, rank, ranks, 1);  // the warm-up
      const double us =
          smallest_task_us(ranks, rate, [&](int iterations) { return run(all, rank, ranks, iterations); });
      if (rank == 0 && us < 0) bench::failed(c.name.c_str(), "tasks of a millisecond leave half of the machine unused");
      if (rank == 0 && us > 0) bench::report(c.name.c_str(), "mpi", us, "us");
    }
  }
  MPI_Finalize();
  return 0;
}
