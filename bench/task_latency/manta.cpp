// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2 with manta: async and get, one after the other.
//
//   mpirun -n 2 --bind-to core bench_task_latency_manta [repetitions]
#include <manta/manta.hpp>

#include <unistd.h>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

int process_of_task() { return ::getpid(); }

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    if (manta::size() > 1 && manta::async<process_of_task>().get() == ::getpid())
      return bench::failed("task_latency", "the task ran on rank 0, so nothing travelled");
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      int value = 0;
      const bench::stopwatch watch;
      for (int i = 0; i < task_latency::round_trips; ++i)
        value = manta::async<task_latency::increment>(value).get();  // the result is the next argument
      const double seconds = watch.seconds();
      if (value != task_latency::round_trips) return bench::failed("task_latency", "a task's result is wrong");
      if (repetition >= 0)
        bench::report("task_latency", "manta", bench::microseconds_each(task_latency::round_trips, seconds), "us");
    }
    return 0;
  });
}
