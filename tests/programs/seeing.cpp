// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that take long, to be looked at from outside while they run. seeing_test.py starts it: the first argument says
// what is run, the second for how many seconds.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <manta/manta.hpp>
#include <string>
#include <vector>

namespace mesh {

std::atomic<int> steps{0};

/// Computes for so long, and calls nothing of manta.
[[gnu::noinline]] int smooth(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100'000; ++i) steps.fetch_add(1, std::memory_order_relaxed);
  }
  return 1;
}
[[gnu::noinline]] int refine(double seconds) { return smooth(seconds) + steps.load() * 0; }

double meet(manta::team team, double seconds) {
  if (team.rank() == 0) smooth(seconds);
  double sum = 0;
  MPI_Allreduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, team.comm());
  return sum;
}

[[gnu::noinline]] int await(manta::future<int> value) { return value.get() + steps.load() * 0; }
/// Waits for a task of its own.
[[gnu::noinline]] int assemble(double seconds) {
  return await(manta::async<refine>({.rank = manta::size() - 1}, seconds)) + steps.load() * 0;
}

}  // namespace mesh

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1;
  return manta::run(argc, argv, [&] {
    if (what == "driver") return mesh::refine(seconds) - 1;
    if (what == "gang") return manta::async<mesh::meet>({.ranks = 2}, seconds).get() == 2 * seconds ? 0 : 2;
    if (what == "deadlock") {
      const manta::promise<int> never;
      return mesh::await(manta::async<mesh::await>({.name = "mesh 17"}, never.get_future()));
    }
    if (what == "waits") return mesh::await(manta::async<mesh::assemble>({.rank = manta::size() / 2}, seconds)) - 1;
    std::vector<manta::future<int>> all;
    for (int i = 0; i < std::max(1, manta::size() - 1); ++i) {
      all.push_back(manta::async<mesh::refine>({.name = "mesh " + std::to_string(i)}, seconds));
    }
    for (const int each : manta::get(all)) {
      if (each != 1) return 2;
    }
    return 0;
  });
}
