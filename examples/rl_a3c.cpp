// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A3C keeps a pole upright: four workers compute gradients on steps of their own, and the learner applies them as they
// come. Who comes first changes from run to run, so the numbers do too.
//
//   scripts/run rl_a3c -n 3
//
// Expected output:
//   20480 steps: return 131.5, gradients 3 versions old (at most 4)
//   ...
//   100 new episodes: 500
#include <manta/rl.hpp>

#include <iostream>

namespace rl = manta::rl;

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [a3c]
    rl::a3c algorithm("CartPole-v1", {.workers = 4, .seed = 1, .max_staleness = 16});
    // [end]
    double result = 0;
    for (rl::report r; result < 450 && r.steps < 500'000;) {
      r = algorithm.train();
      // The mean of training is that of several policies, some of them worse than the last one: new episodes decide.
      if (r.mean_return > 450) result = algorithm.evaluate(100).mean_return;
      if (r.iteration % 20 != 0) continue;
      std::cout << r.steps << " steps: return " << r.mean_return << ", gradients " << r.learner["staleness"]
                << " versions old (at most " << r.learner["max_staleness"] << ")" << std::endl;
    }
    std::cout << "100 new episodes: " << result << '\n';
    return result > 400 ? 0 : 1;
  });
}
