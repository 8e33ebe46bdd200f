// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P16 with manta.
//
//   mpirun -n 2 --bind-to core bench_chain_manta [repetitions]
#include <manta/manta.hpp>

#include "../common/measure.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const bench::stopwatch watch;
      manta::future<int> x = manta::put(0);
      for (int i = 0; i < chain::links; ++i) x = manta::async<chain::increment>(x);
      const int last = x.get();
      const double seconds = watch.seconds();
      if (last != chain::links) return bench::failed("chain", "the last result is wrong");
      if (repetition >= 0) bench::report("chain", "manta", bench::million_per_second(chain::links, seconds), "M/s");
    }
    return 0;
  });
}
