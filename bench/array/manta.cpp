// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P4 with manta. What is timed begins when the value exists where it was made.
//
//   mpirun -n 2 --bind-to core bench_array_manta [repetitions]
#include <manta/eigen.hpp>
#include <manta/manta.hpp>

#include "problem.hpp"

namespace {

array::matrix make(double value) { return array::made(value); }
int awake() { return 1; }
double corners(Eigen::Ref<const array::matrix> m) { return m(0, 0) + m(m.rows() - 1, m.cols() - 1); }

/// Mean microseconds of a task that looks at a stored matrix which its rank has not seen before; below 0: a wrong value.
/// Whatever the size, as much memory has been written before: what is compared does not find warmer caches where less was stored.
double view_us(Eigen::Index n) {
  array::matrix written(array::largest, array::largest);
  double us = 0;
  for (int i = 0; i < array::views; ++i) {
    const double value = i;
    const auto stored = manta::put(array::matrix(array::matrix::Constant(n, n, value)));
    written.setConstant(value);
    if (manta::async<awake>({.rank = 1}).get() != 1) return -1;  // an idle rank sleeps
    const bench::stopwatch watch;
    if (manta::async<corners>({.rank = 1}, stored).get() != 2 * value) return -1;
    us += bench::microseconds_each(array::views, watch.seconds());
  }
  return us;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      double seconds = 0;
      for (int i = 0; i < array::transfers; ++i) {
        const double value = repetition + 2;
        const auto f = manta::async<make>({.rank = 1}, value);
        f.wait();
        const bench::stopwatch watch;
        if (!array::is_sum(f.get().sum(), value)) return bench::failed("array", "a sum is wrong");
        seconds += watch.seconds();
      }
      const double small = view_us(11), medium = view_us(1024), large = view_us(array::largest);  // 1 kB, 8 MB, 256 MB
      if (small < 0 || medium < 0 || large < 0) return bench::failed("array", "a view saw a wrong value");
      if (repetition < 0) continue;
      bench::report("array_get", "manta", array::gigabytes_per_second(seconds), "GB/s");
      bench::report("array_view_small", "manta", small, "us");
      bench::report("array_view_medium", "manta", medium, "us");
      bench::report("array_view_large", "manta", large, "us");
    }
    return 0;
  });
}
