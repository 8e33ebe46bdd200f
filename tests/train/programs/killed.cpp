// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker of a training kills itself in the middle of an epoch: the parameters at the end are those of an undisturbed
// training by one worker, up to the rounding of sums. To be started by manta-run on four ranks.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "manta/manta.hpp"
#include "manta/train.hpp"

namespace nn = manta::nn;
namespace train = manta::train;

struct two_clouds {
  bool dies = false;

  nn::network<double> model() const {
    return nn::network<double>(nn::shape{4}, nn::linear(8), nn::tanh(), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-3}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const {
    const nn::random numbers(1);
    Eigen::MatrixXd x(4, 200);
    std::vector<int> y(200);
    for (int i = 0; i < 200; ++i) {
      y[static_cast<std::size_t>(i)] = i % 2;
      for (int k = 0; k < 4; ++k) x(k, i) = numbers.normal(static_cast<std::uint64_t>(4 * i + k)) + i % 2;
    }
    return train::samples(std::move(x), std::move(y));
  }
  /// Called for each batch: the 25th is in the middle of the third epoch.
  std::map<std::string, double> metrics(const nn::matrix<double>&, const nn::targets<double>&) const {
    static int batches = 0;
    if (dies && manta::rank() == 2 && ++batches == 25) kill(getpid(), SIGKILL);
    return {};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(dies));
  }
};

std::vector<double> trained(bool dies) {
  train::trainer trainer(two_clouds{dies}, {.workers = dies ? 3 : 1, .batch = 20, .seed = 1});
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
