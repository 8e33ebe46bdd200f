// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Two searches over a recipe's members, by ASHA and by PBT, and a training loop of one's own in a gang.
//
//   scripts/run train_search -n 4
//
// Expected output:
//   experiment: 0.6 s, 3 complete, 9 stopped; best accuracy 0.9 (trial 0, {"rate":..})
//   best rate 0.016
//   experiment: 0.3 s, 4 complete; best accuracy 0.9 (trial 1, {"rate":..})
//   a loop of one's own ends with the loss 0.21
#include <manta/manta.hpp>
#include <manta/tune.hpp>
#include <manta/tune/train.hpp>

#include <algorithm>
#include <iostream>

namespace nn = manta::nn;
namespace train = manta::train;
namespace tune = manta::tune;

/// Three clouds of points in eight dimensions.
train::samples clouds(std::uint64_t seed, int count) {
  const nn::random numbers(seed);
  Eigen::MatrixXf x(8, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 3;
    for (int k = 0; k < 8; ++k)
      x(k, i) =
          static_cast<float>(numbers.normal(static_cast<std::uint64_t>(8 * i + k))) + (k % 3 == i % 3 ? 1.5f : 0.f);
  }
  return train::samples(std::move(x), std::move(y));
}

// [recipe]
struct three_clouds {
  double rate = 1e-3;
  nn::network<float> model() const {
    return nn::network<float>(nn::shape{8}, nn::linear(16), nn::tanh(), nn::linear(3));
  }
  nn::adam optimizer() const { return nn::adam({.rate = rate}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return clouds(1, 600); }
  train::samples validation_data() const { return clouds(2, 300); }
  int epochs() const { return 9; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate));
  }
};
// [end]

double own_loop(manta::team team, int steps) {
  const train::samples data = clouds(10 + static_cast<std::uint64_t>(team.rank()), 120);  // this member's own
  std::vector<std::uint64_t> all(data.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  train::batch<float> batch;
  data.take(all, batch);
  double last = 0;
  // [loop]
  auto net = three_clouds().model();
  train::data_parallel ddp(team, net);  // all members get the first one's parameters
  nn::adam optimizer({.rate = 1e-2});
  for (int i = 0; i < steps; ++i) {
    const auto [loss, dy] = nn::cross_entropy(ddp.forward(batch.x), batch.labels);
    ddp.backward(dy);  // net.gradients() is the mean over the members
    optimizer.step(net.parameters(), net.gradients());
    last = static_cast<double>(loss);
  }
  // [end]
  return last;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [search]
    const tune::space rates{{"rate", tune::loguniform(1e-5, 1)}};
    const auto found = tune::run<train::trial<three_clouds>>(
        rates, {.maximise = "accuracy", .trials = 12, .scheduler = tune::asha({.max = 9})});
    const auto evolved = tune::run<train::trial<three_clouds>>(
        rates, {.maximise = "accuracy", .trials = 4, .scheduler = tune::pbt({.interval = 2, .mutate = {"rate"}})});
    // [end]
    std::cout << "best rate " << found.best().parameters.get<double>("rate") << '\n';
    const double loss = manta::async<own_loop>({.ranks = std::max(1, manta::size() - 1)}, 60).get();
    std::cout << "a loop of one's own ends with the loss " << loss << '\n';
    return found.best_value() > 0.8 && evolved.best_value() > 0.8 && loss < 0.5 ? 0 : 1;
  });
}
