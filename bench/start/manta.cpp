// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P14 with manta.
//
//   mpirun -n 2 --bind-to core bench_start_manta
#include <manta/manta.hpp>

#include "problem.hpp"

int main(int argc, char** argv) {
  const bench::stopwatch watch;
  double first = 0;
  int ranks = 0;
  const int code = manta::run(argc, argv, [&] {
    if (manta::async<start::increment>(1).get() != 2) return bench::failed("start", "the result is wrong");
    first = watch.seconds();
    ranks = manta::size();
    return 0;
  });
  if (first > 0) {
    start::report("first_task", ranks, "manta", first);
    start::report("shut_down", ranks, "manta", watch.seconds() - first);
  }
  return code;
}
