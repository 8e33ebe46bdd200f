// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P15 with manta: two rollouts for each rank are under way, and when one ends the
// next begins. Rank 0 only submits, so there is one rank more than in mpi.cpp.
//
//   mpirun -n 9 --oversubscribe bench_simulation_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "problem.hpp"

namespace {

long run() {
  std::vector<manta::future<int>> under_way;
  long steps = 0;
  int next = 0;
  while (next < simulation::rollouts || !under_way.empty()) {
    while (next < simulation::rollouts && under_way.size() < 2 * simulation::simulators)
      under_way.push_back(manta::async<simulation::simulate>(next++));
    auto [ready, pending] = manta::wait(under_way, {.count = 1});
    for (const auto& f : ready) steps += f.get();
    under_way = std::move(pending);
  }
  return steps;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    if (manta::size() != simulation::simulators + 1) return bench::failed("simulation", "needs nine ranks");
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      const bench::stopwatch watch;
      const long steps = run();
      const double seconds = watch.seconds();
      if (steps != simulation::all_steps()) return bench::failed("simulation", "a rollout was lost or done twice");
      bench::report("simulation", "manta", simulation::thousand_per_second(steps, seconds), "k/s");
    }
    return 0;
  });
}
