// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// PPO keeps a pole upright. Four workers act in eight environments; the result is the same for any number of workers
// and ranks.
//
//   scripts/run rl_ppo -n 4
//
// Expected output:
//   iteration 10, 20480 steps, 231 episodes: return 137.9 (25 to 467), length 137.9, ..
//   ...
//   100 new episodes: 500
#include <manta/rl.hpp>

#include <iostream>

namespace rl = manta::rl;

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [ppo]
    rl::ppo algorithm("CartPole-v1", {.workers = 4, .seed = 1});
    rl::report r;
    while ((r = algorithm.train()).mean_return < 400 && r.steps < 200'000) {
      if (r.iteration % 10 == 0) std::cout << r << std::endl;
    }
    const double result = algorithm.evaluate(100).mean_return;  // the best actions, on seeds of its own
    // [end]
    std::cout << "100 new episodes: " << result << '\n';
    return result > 400 ? 0 : 1;
  });
}
