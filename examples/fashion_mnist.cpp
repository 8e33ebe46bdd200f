// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trains a perceptron, 784-128-10, on Fashion-MNIST with a sharded parameter server (manta/train/parameter_server.hpp).
// The parameters are cut into shards, each an actor; each worker reads a part of the training set once and keeps it. In
// every epoch one task per part pulls the parameters, computes the gradient of a minibatch and pushes it, over and over;
// nobody waits for anybody else's step unless it is --staleness steps ahead, so gradients are a few updates old. RMSProp
// with a falling rate bears that: a serial simulation reached 0.868 with gradients 14 updates old. Started by manta-run
// it also bears the death of ranks: what a task had begun is begun again elsewhere, and a shard goes on from its last
// checkpoint.
//
//   scripts/run fashion_mnist -n 4        or        manta-run -n 4 ./fashion_mnist
//   (needs Debian's dataset-fashion-mnist or --data DIR; options: fashion_mnist/options.hpp)
//
// Expected output (L, A, R, S vary from run to run; the last A is at least 0.85):
//   60000 images in 3 parts, 101770 parameters on 3 shards, 4 ranks
//   epoch 1 .......... loss L  accuracy A  R images/s
//   ...
//   trained 6 epochs in S s, R images/s: accuracy A
#include <manta/manta.hpp>
#include <manta/train.hpp>
#include <manta/train/gzip.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>
#include <vector>

#include "fashion_mnist/options.hpp"

namespace fm = fashion_mnist;
namespace nn = manta::nn;
namespace train = manta::train;
using namespace std::chrono_literals;

// [types]
using server = train::parameter_server<nn::rmsprop>;
using part = manta::future<train::samples>;  // lives where it was read

nn::network<float> perceptron() {
  return nn::network<float>(nn::shape{784}, nn::linear(128), nn::relu(), nn::linear(10));
}
// [end]

/// Part `i` of `n` of the first `most` images of a file.
train::samples read_part(const std::string& file, std::size_t most, std::size_t i, std::size_t n) {
  return train::read_idx(train::gunzip(file + "-images-idx3-ubyte.gz"), train::gunzip(file + "-labels-idx1-ubyte.gz"),
                         {.mean = {.286F}, .deviation = {.353F}, .most = most})
      .part(i, n);
}
std::size_t size_of(const train::samples& images) { return images.size(); }

// [learn]
/// One pass over a part of the training set; returns the sum of the losses of its images.
double learn(const train::samples& images, const server& parameters, int number, std::size_t batch_size) {
  std::vector<std::uint64_t> order(images.size());
  std::iota(order.begin(), order.end(), std::uint64_t(0));
  std::mt19937_64 random(manta::this_task::seed());
  std::shuffle(order.begin(), order.end(), random);

  auto worker = parameters.join(number);
  auto net = perceptron();
  train::batch<float> batch;
  double loss = 0;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    images.take(std::span(order).subspan(first, std::min(batch_size, order.size() - first)), batch);
    worker.pull(net.parameters());
    const auto [mean, dy] = nn::cross_entropy(net.forward(batch.x), batch.labels);
    net.zero_gradients();
    net.backward(dy);
    worker.push(net.gradients());
    loss += static_cast<double>(mean) * static_cast<double>(batch.labels.size());
  }
  return loss;
}
// [end]

/// How many images the network puts into the right class.
std::size_t count_correct(nn::network<float> net, const train::samples& images) {
  std::vector<std::uint64_t> all(images.size());
  std::iota(all.begin(), all.end(), std::uint64_t(0));
  train::batch<float> batch;
  images.take(all, batch);
  return static_cast<std::size_t>(nn::correct<float>(net.forward(batch.x), batch.labels));
}

/// Waits for the tasks of an epoch, with a dot for each tenth of its updates.
void show_progress(const std::vector<manta::future<double>>& tasks, const server& parameters, std::size_t updates) {
  const std::size_t before = parameters.steps();
  std::size_t dots = 0;
  const auto draw_up_to = [&dots](std::size_t n) {
    for (; dots < n; ++dots) std::putchar('.');
    std::fflush(stdout);
  };
  for (const auto& task : tasks) {
    while (!task.ready()) {
      task.wait_for(100ms);
      draw_up_to(std::min<std::size_t>(10, 10 * (std::max(parameters.steps(), before) - before) / updates));
    }
  }
  draw_up_to(10);
}

double accuracy(const std::vector<part>& parts, std::size_t images, const server& parameters) {
  auto net = perceptron();
  parameters.pull(net.parameters());
  const auto here = manta::put(net);
  std::vector<manta::future<std::size_t>> correct;
  for (const part& p : parts) correct.push_back(manta::async<count_correct>({.near = p}, here, p));
  std::size_t sum = 0;
  for (const std::size_t c : manta::get(correct)) sum += c;
  return static_cast<double>(sum) / static_cast<double>(images);
}

/// The driver, on rank 0.
int train_and_test(const fm::options& o) {
  if (!std::filesystem::exists(o.data + "/train-images-idx3-ubyte.gz"))
    throw fm::usage_error("there is no Fashion-MNIST in " + o.data +
                          ": install dataset-fashion-mnist or pass --data DIR");
  const std::size_t ranks = static_cast<std::size_t>(manta::size());
  const std::size_t workers = std::min(o.train, o.workers != 0 ? o.workers : std::max<std::size_t>(1, ranks - 1));
  std::vector<part> parts, test_parts;
  std::vector<manta::future<std::size_t>> sizes, test_sizes;
  for (std::size_t i = 0; i < workers; ++i) {
    parts.push_back(manta::async<read_part>({.spread = true}, o.data + "/train", o.train, i, workers));
    test_parts.push_back(manta::async<read_part>({.near = parts[i]}, o.data + "/t10k", std::size_t(0), i, workers));
    sizes.push_back(manta::async<size_of>({.near = parts[i]}, parts[i]));
    test_sizes.push_back(manta::async<size_of>({.near = test_parts[i]}, test_parts[i]));
  }
  std::size_t images = 0, test_images = 0, updates = 0;
  for (const std::size_t n : manta::get(sizes)) images += n, updates += (n + o.batch - 1) / o.batch;
  for (const std::size_t n : manta::get(test_sizes)) test_images += n;

  // [server]
  auto net = perceptron();
  net.initialise(o.seed);
  const int shards = static_cast<int>(o.shards != 0 ? o.shards : workers);
  const train::parameter_server parameters(net.parameters(), nn::rmsprop({.rate = o.rate, .epsilon = 1e-4}),
                                           {.shards = shards, .staleness = o.staleness});
  // [end]
  std::printf("%zu images in %zu parts, %zu parameters on %d shards, %zu ranks\n", images, workers,
              net.parameters().size(), shards, ranks);
  std::fflush(stdout);

  using clock = std::chrono::steady_clock;
  double seconds = 0, reached = 0;
  for (std::size_t epoch = 0; epoch < o.epochs; ++epoch) {
    std::printf("epoch %zu ", epoch + 1);
    const auto start = clock::now();
    const double progress = static_cast<double>(epoch) / static_cast<double>(std::max<std::size_t>(1, o.epochs - 1));
    // [epoch]
    parameters.rate(o.rate * (1 - 0.9 * progress));
    std::vector<manta::future<double>> tasks;
    for (std::size_t i = 0; i < parts.size(); ++i)
      tasks.push_back(manta::async<learn>({.near = parts[i]}, parts[i], parameters, static_cast<int>(i), o.batch));
    // [end]
    show_progress(tasks, parameters, updates);
    const auto losses = manta::get(tasks);
    const double epoch_seconds = std::chrono::duration<double>(clock::now() - start).count();
    seconds += epoch_seconds;
    reached = accuracy(test_parts, test_images, parameters);
    std::printf(" loss %.3f  accuracy %.4f  %.0f images/s\n",
                std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(images), reached,
                static_cast<double>(images) / epoch_seconds);
    std::fflush(stdout);
  }
  std::printf("trained %zu epochs in %.1f s, %.0f images/s: accuracy %.4f\n", o.epochs, seconds,
              static_cast<double>(o.epochs * images) / seconds, reached);
  if (reached >= o.min_accuracy) return 0;
  std::printf("this is below --min-accuracy %.4f\n", o.min_accuracy);
  return 1;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    try {
      return train_and_test(fm::parse_options(argc, argv));
    } catch (const fm::usage_error& e) {
      std::fprintf(stderr, "fashion_mnist: %s\n", e.what());
    }
    return 1;
  });
}
