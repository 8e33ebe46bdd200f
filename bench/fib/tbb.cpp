// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P8 with oneTBB, in one process with a thread for each core.
//
//   bench_fib_tbb [repetitions]
#include <tbb/task_group.h>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

long nested(int n) {
  if (n < 2) return n;
  long left = 0, right = 0;
  tbb::task_group group;
  group.run([&left, n] { left = nested(n - 1); });
  group.run([&right, n] { right = nested(n - 2); });
  group.wait();
  return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  for (int repetition = -1; repetition < bench::repetitions(argc, argv); ++repetition) {
    const bench::stopwatch watch;
    const long value = nested(fib::n);
    const double seconds = watch.seconds();
    if (value != fib::value) return bench::failed("fib", "the number is wrong");
    if (repetition >= 0) bench::report("fib", "tbb", bench::million_per_second(fib::calls, seconds), "M/s");
  }
  return 0;
}
