// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trains a perceptron, 784-128-10, on Fashion-MNIST with a sharded parameter
// server. The parameters are cut into shards, each an actor; the training set is
// cut into parts, each an object that goes to one rank once and stays there. In
// every epoch one task per part pulls the parameters, computes the gradient of a
// minibatch and pushes it, over and over; nobody waits for anybody else's step,
// so gradients are a few updates old. RMSProp on the shards with a falling rate
// bears that: a serial simulation reached 0.868 with gradients 14 updates old.
// Started by manta-run it also bears the death of ranks: what a task had begun is
// begun again elsewhere, and a shard goes on from its last checkpoint.
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

#include <manta/eigen.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fashion_mnist/idx.hpp"
#include "fashion_mnist/mlp.hpp"
#include "fashion_mnist/options.hpp"

namespace fm = fashion_mnist;
using namespace std::chrono_literals;

/// One slice of the parameters, and its RMSProp state.
class shard {
 public:
  shard() = default;
  explicit shard(Eigen::VectorXf slice)
      : slice_(std::move(slice)), mean_square_(Eigen::VectorXf::Zero(slice_.size())) {}

  Eigen::VectorXf pull() const { return slice_; }

  void push(const Eigen::VectorXf& gradient, float rate) {
    mean_square_.array() += 0.01F * (gradient.array().square() - mean_square_.array());
    slice_.array() -= rate * gradient.array() / (mean_square_.array().sqrt() + 1e-4F);
    ++pushes_;
  }

  std::size_t pushes() const { return pushes_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(slice_, mean_square_, pushes_);
  }

 private:
  Eigen::VectorXf slice_;
  Eigen::VectorXf mean_square_;
  std::size_t pushes_ = 0;
};
using shards = std::vector<manta::actor<shard>>;

/// Where slice i of n begins in the flat vector of parameters.
Eigen::Index slice_begin(std::size_t i, std::size_t n) {
  return fm::mutable_layers::size * static_cast<Eigen::Index>(i) / static_cast<Eigen::Index>(n);
}

Eigen::VectorXf slice(const Eigen::VectorXf& flat, std::size_t i, std::size_t n) {
  return flat.segment(slice_begin(i, n), slice_begin(i + 1, n) - slice_begin(i, n));
}

/// Calls that are under way when a shard's rank dies fail, and so do results that still lay there; later calls find the
/// shard elsewhere.
template <class Ask>
auto insist(Ask&& ask) {
  for (int attempt = 1;; ++attempt) {
    try {
      return ask();
    } catch (const manta::actor_died&) {
      if (attempt == 100) throw;
    } catch (const manta::object_lost&) {
      if (attempt == 100) throw;
    }
  }
}

Eigen::VectorXf pull_once(const shards& servers) {
  std::vector<manta::future<Eigen::VectorXf>> slices;
  for (const auto& server : servers) slices.push_back(manta::async<&shard::pull>(server));
  Eigen::VectorXf flat(fm::mutable_layers::size);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    flat.segment(slice_begin(i, slices.size()), slices[i].get().size()) = slices[i].get();
  }
  return flat;
}
Eigen::VectorXf pull(const shards& servers) {
  return insist([&] { return pull_once(servers); });
}
std::size_t pushes(const shards& servers) {
  return insist([&] { return manta::async<&shard::pushes>(servers.front()).get(); });
}

struct epoch_plan {
  std::size_t batch = 0;
  float rate = 0;
  std::uint64_t seed = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(batch, rate, seed);
  }
};

/// Makes the part live where it runs, and all tasks that read it run there. An object from manta::put would live on rank
/// 0, which made it, and be sent anew for every task.
fm::dataset keep(const fm::dataset& part) { return part; }

/// One pass over a part of the training set; returns the sum of the losses of its images.
double train(const fm::dataset& part, const shards& servers, const epoch_plan& plan) {
  std::vector<std::uint32_t> order(part.size());
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(plan.seed ^ manta::this_task::seed());
  std::shuffle(order.begin(), order.end(), random);

  double loss = 0;
  Eigen::VectorXf gradient;
  std::vector<manta::future<void>> pushed;
  for (std::size_t first = 0; first < order.size(); first += plan.batch) {
    const auto indices = std::span(order).subspan(first, std::min(plan.batch, order.size() - first));
    const auto batch = fm::gather(part, indices);
    loss += static_cast<double>(fm::loss_and_gradient(pull(servers), batch, gradient)) *
            static_cast<double>(indices.size());
    pushed.clear();  // done: the pull came after them
    for (std::size_t i = 0; i < servers.size(); ++i) {
      pushed.push_back(manta::async<&shard::push>(servers[i], slice(gradient, i, servers.size()), plan.rate));
    }
  }
  for (const auto& p : pushed) p.wait();
  return loss;
}

/// Waits for the tasks of an epoch, with a dot for each tenth of its updates.
void show_progress(const std::vector<manta::future<double>>& tasks, const shards& servers, std::size_t updates) {
  const std::size_t before = pushes(servers);
  std::size_t dots = 0;
  const auto draw_up_to = [&dots](std::size_t n) {
    for (; dots < n; ++dots) std::putchar('.');
    std::fflush(stdout);
  };
  for (const auto& task : tasks) {
    while (!task.ready()) {
      task.wait_for(100ms);
      draw_up_to(10 * (std::max(pushes(servers), before) - before) / updates);
    }
  }
  draw_up_to(10);
}

double accuracy(const std::vector<manta::future<fm::dataset>>& parts, std::size_t images, const shards& servers) {
  const auto parameters = manta::put(pull(servers));
  std::vector<manta::future<std::size_t>> correct;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    correct.push_back(manta::async<fm::count_correct>({.near = parts[i]}, parameters, parts[i]));
  }
  std::size_t sum = 0;
  for (const auto& c : correct) sum += c.get();
  return static_cast<double>(sum) / static_cast<double>(images);
}

/// The driver, on rank 0.
int train_and_test(const fm::options& o) {
  const auto training_set = fm::read_dataset(o.data, "train");
  const auto test_set = fm::read_dataset(o.data, "t10k");
  const std::size_t images = std::min(o.train, training_set.size());
  const std::size_t ranks = static_cast<std::size_t>(manta::size());
  const std::size_t workers = std::min(images, o.workers != 0 ? o.workers : std::max<std::size_t>(1, ranks - 1));

  const auto used = training_set.part(0, images);
  std::vector<manta::future<fm::dataset>> parts;
  std::vector<manta::future<fm::dataset>> test_parts;
  std::size_t updates = 0;
  for (std::size_t i = 0; i < workers; ++i) {
    const auto part = fm::nth_part(used, i, workers);
    updates += (part.size() + o.batch - 1) / o.batch;
    parts.push_back(manta::async<keep>({.spread = true}, part));
  }
  for (std::size_t i = 0; i < workers; ++i) {
    test_parts.push_back(manta::async<keep>({.near = parts[i]}, fm::nth_part(test_set, i, workers)));
  }
  shards servers;
  const auto initial = fm::initial_parameters(o.seed);
  const std::size_t number_of_shards = o.shards != 0 ? o.shards : workers;
  for (std::size_t i = 0; i < number_of_shards; ++i) {
    servers.push_back(manta::spawn<shard>({.restarts = 100, .checkpoint_every = 50}, slice(initial, i, number_of_shards)));
  }
  std::printf("%zu images in %zu parts, %td parameters on %zu shards, %zu ranks\n", images, workers, initial.size(),
              servers.size(), ranks);

  using clock = std::chrono::steady_clock;
  double seconds = 0;
  double reached = 0;
  for (std::size_t epoch = 0; epoch < o.epochs; ++epoch) {
    std::printf("epoch %zu ", epoch + 1);
    const auto start = clock::now();
    const double progress = static_cast<double>(epoch) / static_cast<double>(std::max<std::size_t>(1, o.epochs - 1));
    const epoch_plan plan{o.batch, static_cast<float>(o.rate * (1 - 0.9 * progress)), o.seed};
    std::vector<manta::future<double>> tasks;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      tasks.push_back(manta::async<train>({.near = parts[i]}, parts[i], servers, plan));
    }
    show_progress(tasks, servers, updates);
    const auto losses = manta::get(tasks);
    const double epoch_seconds = std::chrono::duration<double>(clock::now() - start).count();
    seconds += epoch_seconds;
    reached = accuracy(test_parts, test_set.size(), servers);
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
    } catch (const fm::data_error& e) {
      std::fprintf(stderr, "fashion_mnist: %s (install dataset-fashion-mnist or pass --data DIR)\n", e.what());
    }
    return 1;
  });
}
