// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1 with manta: a million calls of async, then a million calls of get.
//
//   mpirun -n 2 --bind-to core bench_task_rate_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

double measure(task_rate::tally& tally) {
  const bench::stopwatch watch;
  {
    std::vector<manta::future<int>> results;
    results.reserve(task_rate::tasks);
    for (int i = 0; i < task_rate::tasks; ++i) results.push_back(manta::async<task_rate::increment>(i));
    for (int i = 0; i < task_rate::tasks; ++i) tally.add(i, results[static_cast<std::size_t>(i)].get());
  }
  return watch.seconds();
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      task_rate::tally tally;
      const double seconds = measure(tally);
      if (!tally.correct()) return bench::failed("task_rate", "a task's result is wrong");
      if (repetition >= 0)
        bench::report("task_rate", "manta", bench::million_per_second(task_rate::tasks, seconds), "M/s");
    }
    return 0;
  });
}
