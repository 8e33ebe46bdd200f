// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14 with manta.
//
//   mpirun -n 2 --bind-to core bench_start_manta
#include <manta/manta.hpp>

#include "../common/measure.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const bench::stopwatch watch;
  return manta::run(argc, argv, [&watch] {
    if (manta::async<start::increment>(1).get() != 2) return bench::failed("start", "the result is wrong");
    bench::report("first_task", "manta", 1e3 * watch.seconds(), "ms");
    return 0;
  });
}
