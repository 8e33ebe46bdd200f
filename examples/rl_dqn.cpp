// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// DQN keeps a pole upright, with the replay memory as an actor on a rank of its choice.
//
//   scripts/run rl_dqn -n 2
//
// Expected output:
//   ...
//   the best policy: 200 or more in 100 new episodes
#include <manta/rl.hpp>

#include <iostream>
#include <string>

namespace rl = manta::rl;

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [dqn]
    rl::dqn algorithm("CartPole-v1", {.workers = 2,
                                      .seed = 1,
                                      .replay_rank = manta::size() - 1,
                                      .exploration_steps = 4000,
                                      .model = {.hidden = {64, 64}}});
    // A policy of DQN may be worse than the one before: the best of them is kept.
    double best = 0;
    std::string kept;
    for (rl::report r; best < 200 && r.steps < 40'000;) {
      r = algorithm.train();
      if (r.iteration % 10 != 0) continue;
      const double now = algorithm.evaluate(20).mean_return;
      std::cout << r << ", evaluated " << now << std::endl;
      if (now <= best) continue;
      best = now;
      kept = algorithm.save_to_bytes();
    }
    algorithm.load_from_bytes(kept);
    // [end]
    const double result = algorithm.evaluate(100).mean_return;
    std::cout << "the best policy: " << result << " in 100 new episodes\n";
    return result > 150 ? 0 : 1;
  });
}
