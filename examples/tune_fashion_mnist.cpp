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
// Expected output (epochs differ a little with the order in which trials report):
//   random: accuracy 0.7950 after 243 epochs
//   asha:   accuracy 0.7950 after 37 epochs
//   pbt:    accuracy 0.7850 after 72 epochs
// and with --trials 64 --epochs 27 --train 3000: 0.8400 after 1728, 0.8400 after 203, 0.8500 after 216 epochs.
#include <manta/tune.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fashion_mnist/mlp.hpp"

namespace tune = manta::tune;
using namespace fashion_mnist;

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
  dataset train, validation;
};
const images& images_here(const settings& s) {
  static const images all = [&] {
    images i;
    const dataset everything = read_dataset(s.data, "train");
    const std::size_t cut = everything.size() * 5 / 6;
    i.train = everything.part(0, std::min(static_cast<std::size_t>(s.train), cut));
    i.validation = everything.part(cut, cut + i.train.size() / 5);
    return i;
  }();
  return all;
}

void train(const settings& s, tune::trial& trial) {
  const images& all = images_here(s);
  Eigen::VectorXf parameters = initial_parameters(trial.seed()), velocity = Eigen::VectorXf::Zero(parameters.size()), gradient;
  std::vector<float> kept, moving;
  const auto to = [](std::vector<float>& v, const Eigen::VectorXf& x) { v.assign(x.data(), x.data() + x.size()); };
  to(kept, parameters);
  to(moving, velocity);
  trial.keep(kept, moving);
  parameters = Eigen::Map<Eigen::VectorXf>(kept.data(), parameters.size());
  velocity = Eigen::Map<Eigen::VectorXf>(moving.data(), velocity.size());
  while (trial.iteration() < static_cast<std::uint64_t>(s.epochs)) {
    tune::random order(trial.seed(), trial.iteration());
    const auto shuffled = order.permutation(all.train.size());
    std::vector<std::uint32_t> indices(shuffled.begin(), shuffled.end());
    const auto batch = static_cast<std::size_t>(s.batch);
    for (std::size_t i = 0; i + batch <= indices.size(); i += batch) {
      loss_and_gradient(parameters, gather(all.train, std::span(indices).subspan(i, batch)), gradient);
      velocity = static_cast<float>(s.momentum) * velocity - static_cast<float>(s.lr) * gradient;
      parameters += velocity;
    }
    to(kept, parameters);
    to(moving, velocity);
    const double accuracy = static_cast<double>(count_correct(parameters, all.validation)) / static_cast<double>(all.validation.size());
    if (!trial.report({{"accuracy", accuracy}})) return;
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
    const auto search = [&](const char* name, tune::any_scheduler scheduler, int count, std::vector<tune::experiment_rule> stop_all = {}) {
      return tune::run<train>(where, {.maximise = "accuracy", .trials = static_cast<std::size_t>(count), .scheduler = std::move(scheduler),
                                      .stop_all = std::move(stop_all), .folder = folder.empty() ? "" : folder + "/" + name, .name = name});
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
