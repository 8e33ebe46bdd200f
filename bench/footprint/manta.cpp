// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The footprint with manta. Bytes between ranks are counted where they are handed
// to MPI, by functions of MPI's profiling interface. Memory is measured once a
// start, for afterwards the pages are there.
//
//   mpirun -n 2 --bind-to core bench_footprint_manta
#include <manta/manta.hpp>

#include <atomic>
#include <vector>

#include "../common/measure.hpp"
#include "../common/process.hpp"
#include "problem.hpp"

namespace {

std::atomic<long long> bytes_sent{0};

void count_bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  bytes_sent += static_cast<long long>(count) * size;
}

double resident_there() { return bench::resident_bytes(); }
double sent_there() { return static_cast<double>(bytes_sent); }

}  // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  count_bytes(count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}
extern "C" int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count_bytes(count, type);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const manta::task_options there{.rank = 1};
    bench::report("idle_rank_memory", "manta", 1e-6 * manta::async<resident_there>(there).get(), "MB");
    {
      std::vector<manta::future<int>> all;
      all.reserve(footprint::futures);
      const double before = bench::resident_bytes();
      for (int i = 0; i < footprint::futures; ++i) all.push_back(manta::put(i));
      bench::report("future_bytes", "manta", (bench::resident_bytes() - before) / footprint::futures, "B");
    }
    {
      const double here_before = bench::resident_bytes(), there_before = manta::async<resident_there>(there).get();
      std::vector<manta::actor<footprint::nothing>> all;
      for (int i = 0; i < footprint::actors; ++i) all.push_back(manta::spawn<footprint::nothing>());
      int answers = 0;
      for (const auto& a : all) answers += manta::async<&footprint::nothing::touch>(a).get();
      if (answers != footprint::actors) return bench::failed("footprint", "an actor did not answer");
      bench::report("actor_bytes", "manta",
                    (manta::async<resident_there>(there).get() - there_before) / footprint::actors, "B");
      const double here = (bench::resident_bytes() - here_before) / footprint::actors;
      bench::report("actor_bytes_caller", "manta", here > 0 ? here : 0, "B");
    }
    const double out = static_cast<double>(bytes_sent), back = manta::async<sent_there>(there).get();
    std::vector<manta::future<int>> all;
    for (int i = 0; i < footprint::tasks; ++i) all.push_back(manta::async<footprint::increment>(i));
    for (int i = 0; i < footprint::tasks; ++i) {
      if (all[static_cast<std::size_t>(i)].get() != i + 1) return bench::failed("footprint", "a result is wrong");
    }
    bench::report("task_wire_bytes", "manta", (static_cast<double>(bytes_sent) - out) / footprint::tasks, "B");
    bench::report("result_wire_bytes", "manta", (manta::async<sent_there>(there).get() - back) / footprint::tasks, "B");
    return 0;
  });
}
