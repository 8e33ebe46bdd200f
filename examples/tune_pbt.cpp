// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Population-based training: eight trainings run side by side, the worst go on from the weights of the best, and the
// step size changes on the way. What a trial keeps is all that its training goes on from: the weights, and the state of
// the optimiser too, or a copy would begin with a cold one. 31_from_optuna.md walks through it.
//
//   scripts/run tune_pbt -n 4        or        manta-run -n 4 ./tune_pbt
//
// Expected output, the same on any number of ranks, since the population is synchronous:
//   after 60 reports the population has a loss of 0.0026 in the mean, eight trainings alone have 0.065
#include <manta/tune.hpp>

#include <array>
#include <cmath>
#include <cstdio>

namespace tune = manta::tune;

// [model]
struct training {
  std::array<double, 4> weights = {1, 1, 1, 1};
  std::array<double, 4> first = {}, second = {};  // moments of Adam, and its number of steps
  int steps = 0;

  /// A step on slopes with noise. Large steps are good at first, small ones at the end.
  double step(double rate, tune::random& noise) {
    ++steps;
    double loss = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double curvature = std::pow(4.0, static_cast<double>(i));
      const double slope = curvature * weights[i] + 0.3 * noise.normal();
      first[i] += 0.1 * (slope - first[i]);
      second[i] += 0.01 * (slope * slope - second[i]);
      const double m = first[i] / (1 - std::pow(0.9, steps)), v = second[i] / (1 - std::pow(0.99, steps));
      weights[i] -= rate * m / (std::sqrt(v) + 1e-8);
      loss += 0.5 * curvature * weights[i] * weights[i];
    }
    return loss;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(weights, first, second, steps);
  }
};

void train(const tune::config& c, tune::trial& trial) {
  training t;
  trial.keep(t);  // weights and optimiser: what a copy goes on from
  double loss = 0;
  do {
    tune::random noise(trial.seed(), trial.iteration());
    for (int i = 0; i < 5; ++i) loss = t.step(c["rate"], noise);
  } while (trial.report("loss", loss));  // when the trial becomes a copy, train() is called anew with the new rate
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [search]
    tune::experiment e = {.minimise = "loss",
                          .trials = 8,  // the population
                          .scheduler = tune::pbt({.interval = 6, .synchronous = true}),
                          .stop = {tune::after(60)}};
    const tune::space where = {{"rate", tune::loguniform(1e-4, 1)}};
    const auto population = tune::run<train>(where, e);
    // [end]
    e.scheduler = tune::fifo();
    const auto alone = tune::run<train>(where, e);
    const auto mean = [](const tune::results& all) {
      double sum = 0;
      for (const auto& t : all) sum += t.loss;
      return sum / static_cast<double>(all.size());
    };
    std::printf("after 60 reports the population has a loss of %.2g in the mean, eight trainings alone have %.2g\n",
                mean(population), mean(alone));
    return mean(population) < 0.1 * mean(alone) ? 0 : 1;
  });
}
