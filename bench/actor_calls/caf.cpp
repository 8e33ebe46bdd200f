// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P3 with CAF, in one process: a request to an actor and its answer, one after the
// other; then calls of which a thousand are under way.
//
//   bench_actor_calls_caf [repetitions]
#include <caf/all.hpp>

#include <cstdint>

#include "../common/caf_main.hpp"
#include "problem.hpp"

namespace {

constexpr int at_once = 1000;

struct state {
  std::int32_t calls = 0;
};
/// As actor_calls::counter: the sum of its argument and of the calls before.
caf::behavior counter(caf::stateful_actor<state>* self) {
  return {[self](std::int32_t x) { return x + self->state.calls++; },
          [self](caf::get_atom) {
            self->state.calls = 0;
            return std::int32_t{0};
          }};
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure = [](caf::scoped_actor& self, const caf::actor& to, int repetition) {
    bool correct = true;
    const auto receive = [&](int expected) {
      self->receive([&](std::int32_t value) { correct &= value == expected; });
    };
    self->send(to, caf::get_atom_v);
    receive(0);
    const bench::stopwatch waited;
    for (int i = 0; i < actor_calls::round_trips; ++i) {
      self->send(to, std::int32_t{i});
      receive(2 * i);
    }
    const double waited_seconds = waited.seconds();
    self->send(to, caf::get_atom_v);
    receive(0);
    const bench::stopwatch at_once_watch;
    for (int begin = 0; begin < actor_calls::pipelined_calls; begin += at_once) {
      for (int i = begin; i < begin + at_once; ++i) self->send(to, std::int32_t{i});
      for (int i = begin; i < begin + at_once; ++i) receive(2 * i);
    }
    const double at_once_seconds = at_once_watch.seconds();
    if (repetition >= 0) {
      bench::report("actor_round_trip", "caf", bench::microseconds_each(actor_calls::round_trips, waited_seconds),
                    "us");
      bench::report("actor_pipelined", "caf", bench::million_per_second(actor_calls::pipelined_calls, at_once_seconds),
                    "M/s");
    }
    return correct;
  };
  return bench::caf_main(argc, argv, "actor_calls", counter, measure);
}
