// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search with early stopping: of 100 pairs of learning rate and momentum, bad
// ones are stopped after few steps (ASHA). The model is a badly conditioned
// parabola, minimised by gradient descent with momentum.
//
//   scripts/run tune_asha -n 4        or        mpirun -n 4 ./tune_asha
//
// Expected output (which trials are stopped when depends on their order):
//   best loss 4.3e-12 with {"lr":0.0407938816886556,"momentum":0.7199759444468135}; 2232 steps instead of 8100
#include <manta/tune.hpp>

#include <cstdio>

namespace tune = manta::tune;

void train(const tune::config& c, tune::trial& trial) {
  double x = 1, y = 1, vx = 0, vy = 0;
  const double lr = c["lr"], momentum = c["momentum"];
  do {
    x += vx = momentum * vx - lr * x;
    y += vy = momentum * vy - lr * 50 * y;
  } while (trial.report({{"loss", x * x + 50 * y * y}}));
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const auto results = tune::run<train>({{"lr", tune::loguniform(1e-4, 0.1)}, {"momentum", tune::uniform(0.1, 0.95)}},
                                          {.minimise = "loss", .trials = 100, .scheduler = tune::asha({.max = 81, .grace = 9, .eta = 3})});
    unsigned long long steps = 0;
    for (const auto& trial : results) steps += trial.iteration;
    std::printf("best loss %.2g with %s; %llu steps instead of 8100\n", results.best_value(),
                results.best().parameters.text().c_str(), steps);
    return results.best_value() < 0.01 && steps < 5000 ? 0 : 1;
  });
}
