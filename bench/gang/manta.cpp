// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P10 with manta: rank 0 takes part, so that two ranks are enough.
//
//   mpirun -n 2 --bind-to core bench_gang_manta [repetitions]
#include <manta/manta.hpp>

#include "problem.hpp"

namespace {

int empty(manta::team team) { return team.size(); }
double reduce(manta::team team) { return gang::allreduce_us(team.comm()); }

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, {.rank0_tasks = true}, [repetitions] {
    const int ranks = manta::size();
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      bool correct = true;
      const bench::stopwatch watch;
      for (int i = 0; i < gang::gangs; ++i) correct &= manta::async<empty>({.ranks = ranks}).get() == ranks;
      const double empty_us = bench::microseconds_each(gang::gangs, watch.seconds());
      const double reduce_us = manta::async<reduce>({.ranks = ranks}).get();
      if (!correct || reduce_us < 0) return bench::failed("gang", "a gang gave a wrong value");
      if (repetition < 0) continue;
      bench::report("gang_empty", "manta", empty_us, "us");
      bench::report("gang_allreduce", "manta", reduce_us, "us");
    }
    return 0;
  });
}
