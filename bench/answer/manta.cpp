// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P17 with manta. The processor time of the helper is what the process takes beyond
// the thread that computes, once without questions and once with them.
//
//   mpirun -n 2 --bind-to core bench_answer_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/process.hpp"
#include "problem.hpp"

namespace {

using values = std::vector<double>;

std::vector<manta::future<values>> make(int count) {
  std::vector<manta::future<values>> all;
  for (int i = 0; i < count; ++i) all.push_back(manta::put(values(answer::numbers, i)));
  return all;
}

/// Computes; the part of a processor that other threads of this process took meanwhile.
double compute(double seconds) {
  const double process = bench::process_seconds(), thread = bench::thread_seconds();
  answer::compute(seconds);
  return (bench::process_seconds() - process - (bench::thread_seconds() - thread)) / seconds;
}
double processor_seconds() { return bench::process_seconds(); }
manta::task_options on_rank_1() { return {.rank = 1}; }

/// Processor seconds of rank 1 while nothing happens for so long.
double idle(double seconds) {
  const double before = manta::async<processor_seconds>(on_rank_1()).get();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return manta::async<processor_seconds>(on_rank_1()).get() - before;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      const auto all = manta::async<make>(on_rank_1(), answer::questions).get();
      manta::wait(all, {.count = all.size()});  // where they lie is known now, so that a question is one round trip
      const double helper = manta::async<compute>(on_rank_1(), answer::seconds).get();
      const auto computing = manta::async<compute>(on_rank_1(), answer::seconds);
      std::vector<double> us;
      for (int i = 0; i < answer::questions && !computing.ready(); ++i) {
        answer::pause(i);
        const bench::stopwatch watch;
        if (all[static_cast<std::size_t>(i)].get()[answer::numbers / 2] != i)
          return bench::failed("answer", "a value is wrong");
        us.push_back(1e6 * watch.seconds());
      }
      const double helper_asked = computing.get();
      const double before = bench::process_seconds();
      manta::async<compute>(on_rank_1(), answer::seconds).get();
      const double waiting = (bench::process_seconds() - before) / answer::seconds;
      const double idle_part = (idle(answer::idle_seconds + 0.01) - idle(0.01)) / answer::idle_seconds;
      bench::report("answer_p90", "manta", answer::percentile(us, 0.9), "us");
      bench::report("answer_median", "manta", answer::percentile(us, 0.5), "us");
      bench::report("helper", "manta", 100 * helper, "%");
      bench::report("helper_asked", "manta", 100 * helper_asked, "%");
      bench::report("waiting_rank", "manta", 100 * waiting, "%");
      bench::report("idle_rank", "manta", 100 * idle_part, "%");
    }
    return 0;
  });
}
