// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P1 with CAF, in one process: requests to an actor, answers in the order in which
// they come. A thousand at a time, for a million at once take gigabytes.
//
//   bench_task_rate_caf [repetitions]
#include <caf/all.hpp>

#include <cstdint>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

constexpr int at_once = 1000;

caf::behavior worker() {
  return {[](std::int32_t x) { return std::int32_t{task_rate::increment(x)}; }};
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const caf::actor to = system.spawn(worker);
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    task_rate::tally tally;
    const bench::stopwatch watch;
    for (int begin = 0; begin < task_rate::tasks; begin += at_once) {
      for (int i = begin; i < begin + at_once; ++i) self->send(to, std::int32_t{i});
      for (int i = begin; i < begin + at_once; ++i) self->receive([&](std::int32_t value) { tally.add(i, value); });
    }
    const double seconds = watch.seconds();
    if (!tally.correct()) return bench::failed("task_rate", "a result is wrong");
    if (repetition >= 0) bench::report("task_rate", "caf", bench::million_per_second(task_rate::tasks, seconds), "M/s");
  }
  self->send_exit(to, caf::exit_reason::user_shutdown);
  return 0;
}
