// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P2 with CAF, in one process: a message to an actor and its answer, one after the other.
//
//   bench_task_latency_caf [repetitions]
#include <caf/all.hpp>

#include <cstdint>

#include "../common/caf_main.hpp"
#include "problem.hpp"

namespace {

caf::behavior worker() {
  return {[](std::int32_t x) { return std::int32_t{task_latency::increment(x)}; }};
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure = [](caf::scoped_actor& self, const caf::actor& to, int repetition) {
    std::int32_t value = 0;
    const bench::stopwatch watch;
    for (int i = 0; i < task_latency::round_trips; ++i) {
      self->send(to, value);
      self->receive([&](std::int32_t answer) { value = answer; });
    }
    const double seconds = watch.seconds();
    if (repetition >= 0)
      bench::report("task_latency", "caf", bench::microseconds_each(task_latency::round_trips, seconds), "us");
    return value == task_latency::round_trips;
  };
  return bench::caf_main(argc, argv, "task_latency", worker, measure);
}
