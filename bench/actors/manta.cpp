// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P12 with manta.
//
//   mpirun -n 2 --bind-to core bench_actors_manta [repetitions]
#include <manta/manta.hpp>

#include <vector>

#include "../common/measure.hpp"
#include "problem.hpp"

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = -1; repetition < repetitions; ++repetition) {  // -1 is the warm-up
      const bench::stopwatch watch;
      std::vector<manta::actor<actors::counter>> all;
      std::vector<manta::future<int>> answers;
      for (int i = 0; i < actors::actors; ++i) all.push_back(manta::spawn<actors::counter>(i));
      for (const auto& a : all) answers.push_back(manta::async<&actors::counter::next>(a));
      bool correct = true;
      int expected = 0;
      for (const auto& f : answers) correct &= f.get() == ++expected;
      const double seconds = watch.seconds();
      if (!correct) return bench::failed("actors", "an answer is wrong");
      if (repetition >= 0) bench::report("actors", "manta", 1e3 * seconds, "ms");
    }
    return 0;
  });
}
