// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search for PPO's rate on CartPole: each report of a trial is an iteration.
//
//   scripts/run rl_search -n 3
//
// Expected output:
//   experiment: 2.1 s, 2 complete, 6 stopped; best mean_return 69.3 (trial 4, {"rate":0.00082,..})
//   best rate 0.00082
#include <manta/tune.hpp>
#include <manta/tune/rl.hpp>

#include <iostream>

namespace rl = manta::rl;
namespace tune = manta::tune;

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [search]
    const auto best = tune::run<rl::trial<rl::ppo, "CartPole-v1">>(
                          {{"rate", tune::loguniform(1e-5, 1e-2)}, {"environments", 4}},
                          {.maximise = "mean_return", .trials = 8, .scheduler = tune::asha({.max = 8})})
                          .best();
    // [end]
    std::cout << "best rate " << best.parameters.get<double>("rate") << '\n';
    return best.best["mean_return"] > 40 ? 0 : 1;
  });
}
