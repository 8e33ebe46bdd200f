// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P6 with manta. A task that runs until it is cancelled keeps the only other rank
// busy, so that all others wait. Memory is that of rank 0's process, the handle in
// the program's vector included; it is measured once in a start, for afterwards
// the pages are there.
//
//   mpirun -n 2 --bind-to core bench_queued_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "../common/process.hpp"
#include "problem.hpp"

namespace {

int until_stopped() {
  while (!manta::this_task::stop_requested()) {
  }
  return 0;
}

struct measurement {
  double queue_seconds = 0, all_seconds = 0, bytes_each = 0;
  bool correct = false;
};

measurement measure() {
  measurement m;
  std::vector<manta::future<int>> results;
  results.reserve(queued::tasks);
  const auto blocker = manta::async<until_stopped>();
  const double before = bench::resident_bytes();
  const bench::stopwatch watch;
  for (int i = 0; i < queued::tasks; ++i) results.push_back(manta::async<queued::increment>(i));
  m.queue_seconds = watch.seconds();
  m.bytes_each = (bench::resident_bytes() - before) / queued::tasks;
  const bool waited = !results.front().ready();
  const bench::stopwatch rest;
  manta::cancel(blocker);
  std::int64_t sum = 0;
  for (const auto& f : results) sum += f.get();
  results.clear();
  m.all_seconds = m.queue_seconds + rest.seconds();
  m.correct = waited && sum == queued::sum;
  return m;
}

/// What memory grew by while a million tasks went through, ten times over, per task; below 0 if a sum is wrong.
double growth() {
  double before = 0;
  for (int pass = 0; pass <= queued::passes; ++pass) {
    std::vector<manta::future<int>> results;
    results.reserve(queued::tasks);
    for (int i = 0; i < queued::tasks; ++i) results.push_back(manta::async<queued::increment>(i));
    std::int64_t sum = 0;
    for (const auto& f : results) sum += f.get();
    if (sum != queued::sum) return -1;
    if (pass == 0) before = bench::resident_bytes();
  }
  const double grown = bench::resident_bytes() - before;
  return grown > 0 ? grown / queued::tasks / queued::passes : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const measurement m = measure();
      if (!m.correct) return bench::failed("queued", "a sum is wrong, or a task ran where there was no room");
      if (repetition < 0) {
        bench::report("queued_bytes", "manta", m.bytes_each, "B");
      } else {
        bench::report("queued", "manta", 1e3 * m.queue_seconds, "ms");
        bench::report("queued_and_run", "manta", 1e3 * m.all_seconds, "ms");
      }
    }
    const double grown = growth();
    if (grown < 0) return bench::failed("queued", "a sum is wrong");
    bench::report("queued_growth", "manta", grown, "B");
    return 0;
  });
}
