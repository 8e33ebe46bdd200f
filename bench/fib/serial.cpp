// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P8 without tasks: plain calls, with a record for each on the heap, as a call that
// may outlive its caller must have one.
//
//   bench_fib_serial [repetitions]
#include <memory>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

struct record {
  int argument = 0;
  long value = 0;
};

[[gnu::noinline]] void with_record(record& r) {
  if (r.argument < 2) {
    r.value = r.argument;
    return;
  }
  const auto left = std::make_unique<record>(record{r.argument - 1, 0});
  const auto right = std::make_unique<record>(record{r.argument - 2, 0});
  with_record(*left);
  with_record(*right);
  r.value = left->value + right->value;
}

}  // namespace

int main(int argc, char** argv) {
  for (int repetition = -1; repetition < bench::repetitions(argc, argv); ++repetition) {
    const bench::stopwatch watch;
    record root{fib::n, 0};
    with_record(root);
    const double seconds = watch.seconds();
    if (root.value != fib::value) return bench::failed("fib", "the number is wrong");
    if (repetition >= 0) bench::report("fib", "serial", bench::million_per_second(fib::calls, seconds), "M/s");
  }
  return 0;
}
