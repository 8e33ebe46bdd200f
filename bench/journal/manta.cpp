// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the journal costs: a million tasks that are too short to be kept, against
// the same without a journal; tasks whose results are all kept, from the first
// submission until the file is complete; and the same tasks in the next start,
// which finds their results.
//
//   mpirun -n 2 --bind-to core bench_journal_manta [repetitions]
#include <manta/manta.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "../common/measure.hpp"

namespace {

constexpr int short_tasks = 1'000'000;
constexpr int kept_tasks = 100'000;

int increment(int x) { return x + 1; }

/// Seconds of a run of so many tasks, start and end of the runtime not counted; negative if a result is wrong.
double measure(const manta::runtime_options& options, int tasks) {
  manta::runtime runtime(MPI_COMM_WORLD, options);
  bool correct = true;
  MPI_Barrier(MPI_COMM_WORLD);
  const bench::stopwatch watch;
  runtime.run([&] {
    std::vector<manta::future<int>> results;
    results.reserve(static_cast<std::size_t>(tasks));
    for (int i = 0; i < tasks; ++i) results.push_back(manta::async<increment>(i));
    for (int i = 0; i < tasks; ++i) correct &= results[static_cast<std::size_t>(i)].get() == i + 1;
  });
  return correct ? watch.seconds() : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  int level = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bench_journal_" + std::to_string(getppid()));
  int failed = 0;
  for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
    const double none = measure({}, short_tasks);
    const double too_short = measure({.journal = folder / "short", .journal_least = 1}, short_tasks);
    const manta::runtime_options all{.journal = folder / "all", .journal_least = 0};
    const double kept = measure(all, kept_tasks), taken = measure(all, kept_tasks);
    if (rank == 0) {
      std::filesystem::remove_all(folder);
      if (none < 0 || too_short < 0 || kept < 0 || taken < 0)
        failed = bench::failed("journal", "a task's result is wrong");
      if (repetition >= 0) {
        bench::report("journal_none", "manta", bench::million_per_second(short_tasks, none), "M/s");
        bench::report("journal_short", "manta", bench::million_per_second(short_tasks, too_short), "M/s");
        bench::report("journal_kept", "manta", bench::microseconds_each(kept_tasks, kept), "us");
        bench::report("journal_taken", "manta", bench::microseconds_each(kept_tasks, taken), "us");
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed;
}
