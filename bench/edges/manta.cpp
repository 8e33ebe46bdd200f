// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P7 with manta: a vector of futures is the argument of each task.
//
//   mpirun -n 2 --bind-to core bench_edges_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

namespace {

bool run() {
  std::vector<manta::future<int>> layer;
  for (int i = 0; i < edges::width; ++i) layer.push_back(manta::put(0));
  for (int l = 0; l < edges::layers; ++l) {
    std::vector<manta::future<int>> following;
    for (int i = 0; i < edges::width; ++i) following.push_back(manta::async<edges::next>(layer));
    layer = std::move(following);
  }
  bool correct = true;
  for (const auto& f : layer) correct &= f.get() == edges::layers;
  return correct;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const bench::stopwatch watch;
      if (!run()) return bench::failed("edges", "a task saw a wrong input");
      const double seconds = watch.seconds();
      if (repetition >= 0) bench::report("edges", "manta", bench::million_per_second(edges::edges, seconds), "M/s");
    }
    return 0;
  });
}
