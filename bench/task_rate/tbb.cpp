// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1 with oneTBB, in one process: a task_group that runs a million tasks. It has no
// futures: each task writes into an array.
//
//   bench_task_rate_tbb [repetitions]
#include <tbb/task_group.h>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  for (int repetition = -1; repetition < bench::repetitions(argc, argv); ++repetition) {
    task_rate::tally tally;
    const bench::stopwatch watch;
    std::vector<int> results(task_rate::tasks);
    tbb::task_group group;
    for (int i = 0; i < task_rate::tasks; ++i) {
      group.run([&results, i] { results[static_cast<std::size_t>(i)] = task_rate::increment(i); });
    }
    group.wait();
    for (int i = 0; i < task_rate::tasks; ++i) tally.add(i, results[static_cast<std::size_t>(i)]);
    const double seconds = watch.seconds();
    if (!tally.correct()) return bench::failed("task_rate", "a task's result is wrong");
    if (repetition >= 0) bench::report("task_rate", "tbb", bench::million_per_second(task_rate::tasks, seconds), "M/s");
  }
  return 0;
}
