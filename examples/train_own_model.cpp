// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A model of another framework in a trainer: twenty lines make a module of it.
//
//   scripts/run train_own_model -n 4
//
// Expected output:
//   3 workers and one have the same model, which is right for 0.9 of 300 other samples
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace nn = manta::nn;
namespace train = manta::train;

namespace other {

/// Stands for any framework in C++ whose parameters lie in memory one after the other: a layer of sigmoids, and a score
/// for each class. Samples lie one after the other, too.
class two_layers {
 public:
  two_layers(int inputs, int hidden, int classes) : inputs_(inputs), hidden_(hidden), classes_(classes) {
    weights.resize(static_cast<std::size_t>(hidden * (inputs + classes)));
    slopes.resize(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = .5F * std::sin(static_cast<float>(i * i + 1));
  }

  void scores(const float* samples, std::size_t count, float* result) {
    samples_.assign(samples, samples + count * static_cast<std::size_t>(inputs_));
    between_.assign(count * static_cast<std::size_t>(hidden_), 0.F);
    std::fill(result, result + count * static_cast<std::size_t>(classes_), 0.F);
    for_all(
        count, [&](std::size_t x, std::size_t h, std::size_t w) { between_[h] += weights[w] * samples_[x]; },
        [&](std::size_t h) { between_[h] = 1 / (1 + std::exp(-between_[h])); },
        [&](std::size_t h, std::size_t y, std::size_t w) { result[y] += weights[w] * between_[h]; });
  }
  /// Adds to the slopes, from those of a function by the scores.
  void add_slopes(const float* by_scores, std::size_t count) {
    std::vector<float> by_between(between_.size());
    for_all(
        count, [](auto...) {}, [](std::size_t) {},
        [&](std::size_t h, std::size_t y, std::size_t w) {
          slopes[w] += by_scores[y] * between_[h];
          by_between[h] += by_scores[y] * weights[w];
        });
    for_all(
        count,
        [&](std::size_t x, std::size_t h, std::size_t w) {
          slopes[w] += by_between[h] * between_[h] * (1 - between_[h]) * samples_[x];
        },
        [](std::size_t) {}, [](auto...) {});
  }

  std::vector<float> weights, slopes;

 private:
  /// Calls first(x, h, w) for each weight of the first layer, middle(h), and last(h, y, w), for all samples.
  template <class First, class Middle, class Last>
  void for_all(std::size_t count, First first, Middle middle, Last last) {
    const auto n = static_cast<std::size_t>(inputs_), m = static_cast<std::size_t>(hidden_),
               k = static_cast<std::size_t>(classes_);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t h = 0; h < m; ++h) {
        for (std::size_t x = 0; x < n; ++x) first(i * n + x, i * m + h, h * n + x);
        middle(i * m + h);
        for (std::size_t y = 0; y < k; ++y) last(i * m + h, i * k + y, m * n + h * k + y);
      }
    }
  }

  int inputs_, hidden_, classes_;
  std::vector<float> samples_, between_;
};

}  // namespace other

// [adapter]
class adapted {
 public:
  using scalar = float;
  adapted() : net_(8, 16, 3) {}
  const nn::matrix<float>& forward(const nn::matrix<float>& x) {  // a column for each sample, one after the other
    y_.resize(3, x.cols());
    net_.scores(x.data(), static_cast<std::size_t>(x.cols()), y_.data());
    return y_;
  }
  void backward(const nn::matrix<float>& dy) { net_.add_slopes(dy.data(), static_cast<std::size_t>(dy.cols())); }
  std::span<float> parameters() { return net_.weights; }
  std::span<const float> parameters() const { return net_.weights; }
  std::span<float> gradients() { return net_.slopes; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(net_.weights);
  }

 private:
  other::two_layers net_;
  nn::matrix<float> y_;
};
// [end]
static_assert(nn::module<adapted>);

/// Three clouds of points in eight dimensions.
train::samples clouds(std::uint64_t seed, int count) {
  const nn::random numbers(seed);
  Eigen::MatrixXf x(8, count);
  std::vector<int> y(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    y[static_cast<std::size_t>(i)] = i % 3;
    for (int k = 0; k < 8; ++k)
      x(k, i) =
          static_cast<float>(numbers.normal(static_cast<std::uint64_t>(8 * i + k))) + (k % 3 == i % 3 ? 1.5F : 0.F);
  }
  return train::samples(std::move(x), std::move(y));
}

struct recipe {
  adapted model() const { return {}; }
  nn::adam optimizer() const { return nn::adam({.rate = 0.02}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return clouds(1, 600); }
  train::samples validation_data() const { return clouds(2, 300); }
};

std::vector<float> trained_by(int workers, double& accuracy) {
  train::trainer trainer(recipe{}, {.workers = workers, .batch = 30, .seed = 1});
  for (int epoch = 0; epoch < 4; ++epoch) trainer.train();
  accuracy = trainer.validate()["accuracy"];
  const adapted net = trainer.model();
  return {net.parameters().begin(), net.parameters().end()};
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const int workers = std::max(1, manta::size() - 1);
    double accuracy = 0, of_one = 0;
    const std::vector<float> one = trained_by(1, of_one), all = trained_by(workers, accuracy);
    float apart = 0;
    for (std::size_t i = 0; i < one.size(); ++i) apart = std::max(apart, std::abs(one[i] - all[i]));
    const bool is_same = apart < 1e-3F && std::abs(accuracy - of_one) < 0.02;
    std::cout << workers << (is_same ? " workers and one have the same model" : " workers have another model than one")
              << ", which is right for " << accuracy << " of 300 other samples" << std::endl;
    return is_same && accuracy > 0.85 ? 0 : 1;
  });
}
