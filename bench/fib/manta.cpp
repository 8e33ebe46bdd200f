// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P8 with manta; fib_alone is the same in a world of one rank.
//
//   mpirun -n 2 --bind-to core bench_fib_manta [repetitions]
//   bench_fib_manta [repetitions]
#include <manta/manta.hpp>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

long nested(int n) {
  if (n < 2) return n;
  const auto left = manta::async<nested>(n - 1);
  const auto right = manta::async<nested>(n - 2);
  return left.get() + right.get();
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const bench::stopwatch watch;
      const long value = manta::async<nested>(fib::n).get();
      const double seconds = watch.seconds();
      if (value != fib::value) return bench::failed("fib", "the number is wrong");
      if (repetition >= 0)
        bench::report(manta::size() > 1 ? "fib" : "fib_alone", "manta", bench::million_per_second(fib::calls, seconds),
                      "M/s");
    }
    return 0;
  });
}
