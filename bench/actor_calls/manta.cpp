// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P3 with manta: async of a member function on an actor of the other rank.
//
//   mpirun -n 2 --bind-to core bench_actor_calls_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

using actor_calls::counter;

bool round_trips(const manta::actor<counter>& actor) {
  bool correct = true;
  for (int i = 0; i < actor_calls::round_trips; ++i) correct &= manta::async<&counter::add>(actor, i).get() == 2 * i;
  return correct;
}

bool pipelined(const manta::actor<counter>& actor) {
  std::vector<manta::future<int>> results;
  results.reserve(actor_calls::pipelined_calls);
  for (int i = 0; i < actor_calls::pipelined_calls; ++i) results.push_back(manta::async<&counter::add>(actor, i));
  bool correct = true;
  for (int i = 0; i < actor_calls::pipelined_calls; ++i) correct &= results[static_cast<std::size_t>(i)].get() == 2 * i;
  return correct;
}

/// Seconds of `calls(actor)`, a negative number if a result was wrong.
template <class Calls>
double measure(const manta::actor<counter>& actor, Calls calls) {
  manta::async<&counter::reset>(actor).get();
  const bench::stopwatch watch;
  const bool correct = calls(actor);
  const double seconds = watch.seconds();
  return correct ? seconds : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    const manta::actor<counter> actor = manta::spawn<counter>();
    if (manta::size() > 1 && manta::async<&counter::process>(actor).get() == ::getpid())
      return bench::failed("actor_calls", "the actor lives on rank 0, so nothing travelled");
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const double waited = measure(actor, round_trips);
      const double at_once = measure(actor, pipelined);
      if (waited < 0 || at_once < 0) return bench::failed("actor_calls", "a call was lost, doubled or out of order");
      if (repetition < 0) continue;
      bench::report("actor_round_trip", "manta", bench::microseconds_each(actor_calls::round_trips, waited), "us");
      bench::report("actor_pipelined", "manta", bench::million_per_second(actor_calls::pipelined_calls, at_once),
                    "M/s");
    }
    return 0;
  });
}
