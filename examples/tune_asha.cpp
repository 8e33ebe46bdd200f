// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search with early stopping, the counterpart of Ray's tune.run with ASHA: of 100 pairs
// of learning rate and momentum, bad ones are stopped after few steps. The model is a
// badly conditioned parabola, which gradient descent with momentum minimises.
//
//   scripts/run tune_asha -n 4        or        manta-run -n 4 ./tune_asha
//
// Expected output (which trials are stopped depends on the order in which they report):
//   best loss 4.3e-12 with {"lr":0.0407938816886556,"momentum":0.7199759444468135}; 86 of 100 trials stopped early
#include <manta/tune.hpp>

#include <cstdio>

namespace tune = manta::tune;

// [train]
struct parabola {
  double x = 1, y = 1, vx = 0, vy = 0;
  double descend(double lr, double momentum) {
    x += vx = momentum * vx - lr * x;
    y += vy = momentum * vy - lr * 50 * y;
    return x * x + 50 * y * y;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x, y, vx, vy);
  }
};

void train(const tune::config& c, tune::trial& trial) {
  parabola model;
  trial.keep(model);  // saved when needed, restored when the trial goes on after a pause, a failure or a restart
  while (trial.report("loss", model.descend(c["lr"], c["momentum"]))) {
  }
}
// [end]
int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [search]
    const auto results = tune::run<train>(
        {{"lr", tune::loguniform(1e-4, 0.1)}, {"momentum", tune::uniform(0.1, 0.95)}},
        {.minimise = "loss", .trials = 100, .scheduler = tune::asha({.max = 81, .grace = 9, .eta = 3})});
    // [end]
    const std::size_t stopped = results.count(tune::status::stopped);
    std::printf("best loss %.2g with %s; %zu of 100 trials stopped early\n", results.best_value(),
                results.best().parameters.text().c_str(), stopped);
    return results.best_value() < 0.01 && stopped > 50 ? 0 : 1;
  });
}
