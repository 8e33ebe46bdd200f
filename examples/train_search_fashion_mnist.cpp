// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The counterpart of the search that Ray Tune's users begin with: a small convolutional network on pictures of clothes,
// 30 pairs of learning rate and momentum, of which ASHA stops the bad ones early. Every five epochs a trial writes its
// weights to its folder, as PyTorch and NumPy read them. Needs Debian's dataset-fashion-mnist.
//
//   scripts/run train_search_fashion_mnist -n 4 -- --folder results
//
// Expected output (which trials are stopped depends on the order in which they report):
//   experiment: 2.5 s, 2 complete, 28 stopped; best mean_accuracy 0.796875 (trial 29, {"lr":..,"momentum":..})
//   30 files of weights in results/trials
#include <manta/nn/weights.hpp>
#include <manta/train.hpp>
#include <manta/train/gzip.hpp>
#include <manta/tune.hpp>

#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace nn = manta::nn;
namespace train = manta::train;
namespace tune = manta::tune;

constexpr std::size_t training_size = 512, test_size = 256, batch_size = 64;

nn::network<float> conv_net() {
  return nn::network<float>(nn::shape{1, 28, 28}, nn::conv2d(3, 3), nn::max_pool(3), nn::relu(), nn::linear(10));
}

const train::samples& pictures() {
  const std::string begin = "/usr/share/datasets/fashion-mnist/train-";
  static const train::samples all =
      train::read_idx(train::gunzip(begin + "images-idx3-ubyte.gz"), train::gunzip(begin + "labels-idx1-ubyte.gz"),
                      {.mean = {.286F}, .deviation = {.353F}, .most = training_size + test_size});
  return all;
}

/// The numbers [first, last).
std::vector<std::uint64_t> numbers(std::size_t first, std::size_t last) {
  std::vector<std::uint64_t> all(last - first);
  std::iota(all.begin(), all.end(), first);
  return all;
}

void train_epoch(nn::network<float>& net, nn::sgd& optimizer) {
  train::batch<float> batch;
  for (std::size_t at = 0; at < training_size; at += batch_size) {
    pictures().take(numbers(at, at + batch_size), batch);
    const auto [loss, dy] = nn::cross_entropy(net.forward(batch.x), batch.labels);
    net.zero_gradients();
    net.backward(dy);
    optimizer.step(net.parameters(), net.gradients());
  }
}

double accuracy(nn::network<float>& net) {
  train::batch<float> batch;
  pictures().take(numbers(training_size, training_size + test_size), batch);
  return static_cast<double>(nn::correct<float>(net.forward(batch.x), batch.labels)) / test_size;
}

void train_pictures(const tune::config& c, tune::trial& trial) {
  nn::network<float> net = conv_net();
  net.initialise(trial.seed());
  nn::sgd optimizer({.rate = c["lr"], .momentum = c["momentum"]});
  trial.keep(net, optimizer);
  for (auto epoch = trial.iteration(); epoch < 10; ++epoch) {
    train_epoch(net, optimizer);
    if (epoch % 5 == 0) nn::save_weights(trial.folder() + "/model.npz", net);
    if (!trial.report("mean_accuracy", accuracy(net))) return;
  }
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    const bool is_kept = argc > 2 && std::string(argv[1]) == "--folder";
    const std::string folder =
        is_kept ? argv[2] : std::filesystem::temp_directory_path() / ("manta_search_" + std::to_string(::getpid()));
    const auto results =
        tune::run<train_pictures>({{"lr", tune::loguniform(1e-5, 1)}, {"momentum", tune::uniform(0.1, 0.9)}},
                                  {.maximise = "mean_accuracy",
                                   .trials = 30,
                                   .scheduler = tune::asha({.max = 10}),
                                   .folder = folder,
                                   .fresh = true});

    int files = 0;
    nn::network<float> net = conv_net();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().filename() != "model.npz") continue;
      nn::load_weights(entry.path(), net);
      ++files;
    }
    nn::load_weights(results.folder_of(results.best()) + "/model.npz", net);  // net is the best trial's network
    std::cout << files << " files of weights in " << folder << "/trials\n";
    if (!is_kept) std::filesystem::remove_all(folder);
    return results.best_value() > 0.6 && results.count(tune::status::stopped) > 10 && files == 30 ? 0 : 1;
  });
}
