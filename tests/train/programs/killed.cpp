// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker of a training kills itself in the middle of an epoch: the parameters at the end are those of an undisturbed
// training by one worker, up to the rounding of sums. To be started by manta-run on four ranks.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "two_clouds.hpp"

std::vector<double> trained(bool dies) {
  train::trainer trainer(two_clouds{dies ? SIGKILL : 0, 2}, {.workers = dies ? 3 : 1, .batch = 20, .seed = 1});
  train::summary s;
  for (int epoch = 0; epoch < 5; ++epoch) s = trainer.train();
  if (s.step != 50 || s.samples != 200) std::printf("%lu steps, %lu samples in the last epoch\n", s.step, s.samples);
  const auto net = trainer.model();
  return {net.parameters().begin(), net.parameters().end()};
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const std::vector<double> expected = trained(false), got = trained(true);
    double difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) difference = std::max(difference, std::abs(expected[i] - got[i]));
    std::printf("the parameters differ by %g\n", difference);
    return difference < 1e-10 ? 0 : 1;
  });
}
