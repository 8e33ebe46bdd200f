// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The perceptron of fashion_mnist.cpp, tuned: learning rate, momentum and batch size of stochastic gradient
// descent, by random search, by ASHA, which stops bad trials of the same configurations early and reaches what random
// search finds in a third of its epochs or less, and by population-based training, which changes the rates while it trains.
//
//   scripts/run tune_fashion_mnist -n 4 -- --trials 27 --epochs 9 --train 2000
//
//   --trials N  --epochs N  --train N (images)  --data FOLDER  --folder FOLDER (of the results: curves, tables, a report)
//
// Expected output (with the order in which trials report, the epochs of ASHA, 39 to 69, and PBT's accuracy, 0.7775 to 0.7975, differ):
//   random: accuracy 0.7950 after 243 epochs
//   asha:   accuracy 0.7950 after 46 epochs
//   pbt:    accuracy 0.7800 after 72 epochs
// and with --trials 64 --epochs 27 --train 3000: 0.8467 after 1728, 0.8467 after 176, 0.8450 after 216 epochs.
#include <manta/train.hpp>
#include <manta/train/gzip.hpp>
#include <manta/tune.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace tune = manta::tune;
namespace nn = manta::nn;

struct settings {
  double lr = 0, momentum = 0;
  int batch = 0, epochs = 0, train = 0;
  std::string data;
  template <class Visitor>
  void describe(Visitor& field) {
    field("lr", lr, tune::loguniform(1e-5, 1));
    field("momentum", momentum, tune::uniform(0, 0.99));
    field("batch", batch, tune::choice({32, 64, 128, 256}));
    field("epochs", epochs);
    field("train", train);
    field("data", data);
  }
};

/// Read once on each rank: trials come and go, the images stay.
struct images {
  manta::train::samples all;
  std::size_t train = 0, first = 0, last = 0;  ///< of the validation
};
const images& images_here(const settings& s) {
  static const images here = [&] {
    images i;
    i.all = manta::train::read_idx(manta::train::gunzip(s.data + "/train-images-idx3-ubyte.gz"),
                                   manta::train::gunzip(s.data + "/train-labels-idx1-ubyte.gz"),
                                   {.mean = {.286F}, .deviation = {.353F}});
    i.first = i.all.size() * 5 / 6;
    i.train = std::min(static_cast<std::size_t>(s.train), i.first);
    i.last = i.first + i.train / 5;
    return i;
  }();
  return here;
}

double accuracy(nn::network<float>& net, const images& here) {
  std::vector<std::uint64_t> which(here.last - here.first);
  std::iota(which.begin(), which.end(), here.first);
  manta::train::batch<float> batch;
  here.all.take(which, batch);
  return static_cast<double>(nn::correct<float>(net.forward(batch.x), batch.labels)) /
         static_cast<double>(which.size());
}

void train(const settings& s, tune::trial& trial) {
  const images& here = images_here(s);
  nn::network<float> net(nn::shape{784}, nn::linear(128), nn::relu(), nn::linear(10));
  net.initialise(trial.seed());
  nn::sgd optimizer, kept;
  trial.keep(net, kept);
  optimizer = nn::sgd({.rate = s.lr, .momentum = s.momentum});
  optimizer.take_moments(kept);  // PBT's copies go on with rates of their own
  manta::train::batch<float> batch;
  while (trial.iteration() < static_cast<std::uint64_t>(s.epochs)) {
    tune::random numbers(trial.seed(), trial.iteration());
    const auto shuffled = numbers.permutation(here.train);
    const std::vector<std::uint64_t> order(shuffled.begin(), shuffled.end());
    const auto size = static_cast<std::size_t>(s.batch);
    for (std::size_t i = 0; i + size <= order.size(); i += size) {
      here.all.take(std::span(order).subspan(i, size), batch);
      const auto [loss, dy] = nn::cross_entropy(net.forward(batch.x), batch.labels);
      net.zero_gradients();
      net.backward(dy);
      optimizer.step(net.parameters(), net.gradients());
    }
    kept = optimizer;
    if (!trial.report({{"accuracy", accuracy(net, here)}})) return;
  }
}

/// Epochs of all trials together.
unsigned long long epochs_of(const tune::results& r) {
  unsigned long long sum = 0;
  for (const auto& trial : r) sum += static_cast<unsigned long long>(trial.iteration);
  return sum;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [&] {
    std::string data = "/usr/share/datasets/fashion-mnist", folder;
    int trials = 27, epochs = 9, images = 50'000;
    for (int i = 1; i + 1 < argc; i += 2) {
      const std::string_view name = argv[i];
      if (name == "--trials") trials = std::atoi(argv[i + 1]);
      else if (name == "--epochs") epochs = std::atoi(argv[i + 1]);
      else if (name == "--train") images = std::atoi(argv[i + 1]);
      else if (name == "--data") data = argv[i + 1];
      else if (name == "--folder") folder = argv[i + 1];
      else throw std::invalid_argument("unknown option " + std::string(name));
    }
    auto parameters = tune::space_of<settings>().parameters();
    parameters.insert(parameters.end(), {{"epochs", epochs}, {"train", images}, {"data", data}});
    const tune::space where(parameters);
    const auto search = [&](const char* name, tune::any_scheduler scheduler, int count,
                            std::vector<tune::experiment_rule> stop_all = {}) {
      return tune::run<train>(where, {.maximise = "accuracy",
                                      .trials = static_cast<std::size_t>(count),
                                      .scheduler = std::move(scheduler),
                                      .stop_all = std::move(stop_all),
                                      .folder = folder.empty() ? "" : folder + "/" + name,
                                      .name = name});
    };
    const auto random = search("random", tune::fifo(), trials);
    // the same configurations, until one is as good as the best of the random search in the end
    const auto asha = search("asha", tune::asha({.max = static_cast<double>(epochs), .eta = 3}), trials,
                             {tune::best_reaches(random.best_value())});
    const auto pbt = search("pbt", tune::pbt({.interval = 2, .mutate = {"lr", "momentum"}}), std::min(8, trials));
    for (const auto& [name, r] : {std::pair("random:", &random), {"asha:  ", &asha}, {"pbt:   ", &pbt}}) {
      std::printf("%s accuracy %.4f after %llu epochs\n", name, r->best_value(), epochs_of(*r));
    }
    return asha.best_value() >= random.best_value() && 3 * epochs_of(asha) <= epochs_of(random) ? 0 : 1;
  });
}
