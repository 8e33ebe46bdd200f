// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2 with CAF, in one process: a message to an actor and its answer, one after the other.
//
//   bench_task_latency_caf [repetitions]
#include <caf/all.hpp>

#include <cstdint>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

caf::behavior worker() {
  return {[](std::int32_t x) { return std::int32_t{task_latency::increment(x)}; }};
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const caf::actor to = system.spawn(worker);
  for (int repetition = -1; repetition < repetitions; ++repetition) {
    std::int32_t value = 0;
    const bench::stopwatch watch;
    for (int i = 0; i < task_latency::round_trips; ++i) {
      self->send(to, value);
      self->receive([&](std::int32_t answer) { value = answer; });
    }
    const double seconds = watch.seconds();
    if (value != task_latency::round_trips) return bench::failed("task_latency", "a result is wrong");
    if (repetition >= 0)
      bench::report("task_latency", "caf", bench::microseconds_each(task_latency::round_trips, seconds), "us");
  }
  self->send_exit(to, caf::exit_reason::user_shutdown);
  return 0;
}
