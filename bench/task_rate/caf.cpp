// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1 with CAF, in one process: requests to an actor, answers in the order in which
// they come. A thousand at a time, for a million at once take gigabytes.
//
//   bench_task_rate_caf [repetitions]
#include <caf/all.hpp>

#include <cstdint>

#include "../common/caf_main.hpp"
#include "problem.hpp"

namespace {

constexpr int at_once = 1000;

caf::behavior worker() {
  return {[](std::int32_t x) { return std::int32_t{task_rate::increment(x)}; }};
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure = [](caf::scoped_actor& self, const caf::actor& to, int repetition) {
    task_rate::tally tally;
    const bench::stopwatch watch;
    for (int begin = 0; begin < task_rate::tasks; begin += at_once) {
      for (int i = begin; i < begin + at_once; ++i) self->send(to, std::int32_t{i});
      for (int i = begin; i < begin + at_once; ++i) self->receive([&](std::int32_t value) { tally.add(i, value); });
    }
    const double seconds = watch.seconds();
    if (repetition >= 0) bench::report("task_rate", "caf", bench::million_per_second(task_rate::tasks, seconds), "M/s");
    return tally.correct();
  };
  return bench::caf_main(argc, argv, "task_rate", worker, measure);
}
