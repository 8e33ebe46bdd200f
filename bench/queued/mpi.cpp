// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P6 by hand: rank 0 makes a record for each task and a queue of them, as a
// program without a task system does, then has rank 1 do them in batches.
//
//   mpirun -n 2 --bind-to core bench_queued_mpi [repetitions]
#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "../common/batched_calls.hpp"
#include "../common/mpi_main.hpp"
#include "../common/process.hpp"
#include "problem.hpp"

namespace {

struct record {
  bench::call call;
  int value = 0;
  bool ready = false;
};

/// Prints if `figures`; false if the sum is wrong.
bool measure(bool figures, bool memory) {
  bench::channel<bench::call, bench::reply> worker(1);
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<std::unique_ptr<record>> records;
  records.reserve(queued::tasks);
  const double before = bench::resident_bytes();
  const bench::stopwatch watch;
  std::deque<record*> queue;
  for (int i = 0; i < queued::tasks; ++i) {
    records.push_back(std::make_unique<record>());
    records.back()->call = {static_cast<std::uint64_t>(i), 1, 0, i, sizeof(int)};
    queue.push_back(records.back().get());
  }
  const double queue_seconds = watch.seconds();
  const double bytes = (bench::resident_bytes() - before) / queued::tasks;
  int completed = 0, sent = 0;
  const auto complete = [&](const bench::reply& answer) {
    records[answer.task]->value = answer.value;
    records[answer.task]->ready = true;
    ++completed;
  };
  for (; !queue.empty(); queue.pop_front(), ++sent) {
    if (!worker.push(queue.front()->call)) continue;
    worker.poll(complete);
    while (sent - completed >= 4096) worker.poll(complete);
  }
  worker.flush();
  while (completed < queued::tasks) worker.poll(complete);
  std::int64_t sum = 0;
  for (const auto& r : records) sum += r->ready ? r->value : 0;
  records.clear();
  const double all_seconds = watch.seconds();
  if (memory) bench::report("queued_bytes", "mpi", bytes, "B");
  if (figures) {
    bench::report("queued", "mpi", 1e3 * queue_seconds, "ms");
    bench::report("queued_and_run", "mpi", 1e3 * all_seconds, "ms");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return sum == queued::sum;
}

bool serve() {
  bench::channel<bench::reply, bench::call> driver(0);
  MPI_Barrier(MPI_COMM_WORLD);
  bench::serve_batched(driver, queued::tasks, queued::increment);
  MPI_Barrier(MPI_COMM_WORLD);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::mpi_main(argc, argv, "queued", [](int rank, int repetition) {
    return rank == 1 ? serve() : measure(repetition >= 0, repetition < 0);
  });
}
