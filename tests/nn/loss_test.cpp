// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Losses of samples that have weights. The oracle is the loss of each sample alone.
#include <doctest/doctest.h>

#include <vector>

#include "../support/gradients.hpp"
#include "../support/text.hpp"

namespace nn = manta::nn;
using manta::testing::contains;
using manta::testing::difference;
using manta::testing::numbers;
using manta::testing::thrown;

namespace {

struct numeric_case {
  nn::loss loss;
  nn::matrix<double> targets;
};

/// Losses of numbers, for four outputs of six samples.
std::vector<numeric_case> numeric_cases() {
  const nn::matrix<double> any = numbers(4, 6, 2), parts = any.array().abs();
  nn::matrix<double> probabilities = parts;
  for (Eigen::Index i = 0; i < 6; ++i) probabilities.col(i) /= parts.col(i).sum();
  return {{nn::mse(), any},
          {nn::mae(), any},
          {nn::huber(0.5), any},
          {nn::quantile(0.8), any},
          {nn::poisson(), parts},
          {nn::binary_cross_entropy(), probabilities},
          {nn::kl_divergence(), probabilities},
          {nn::several({{.outputs = 3, .loss = nn::mse()}, {.outputs = 1, .loss = nn::mae(), .weight = 0.3}}), any}};
}

const std::vector<float> weights{1, 0.5F, 0, 2, 3, 0.25F};

}  // namespace

TEST_CASE("the loss of weighted samples is the weighted mean of what each gives alone, with its gradient") {
  for (const auto& [loss, t] : numeric_cases()) {
    INFO(loss.describe());
    nn::matrix<double> y = numbers(4, 6, 1), dy, unused;
    const auto weighted = nn::targets<double>(t).with_weights(weights);
    double sum = 0, of_weights = 0;
    for (int i = 0; i < 6; ++i) {
      const nn::matrix<double> its = y.col(i), target = t.col(i);
      sum += static_cast<double>(weights[static_cast<std::size_t>(i)]) * loss(its, target, unused);
      of_weights += static_cast<double>(weights[static_cast<std::size_t>(i)]);
    }
    CHECK(loss.weight(weighted) == of_weights);
    CHECK(loss(y, weighted, dy) == doctest::Approx(sum / of_weights).epsilon(1e-12));
    const nn::matrix<double> gradient = dy;
    CHECK(difference(std::span(y.data(), 24), std::span(gradient.data(), 24), [&] { return loss(y, weighted, dy); }) <
          1e-6);
  }
}

TEST_CASE("a loss from a function of one sample is what the same loss of the library is, also with weights") {
  using span = std::span<const double>;
  const nn::own_loss<double> absolute([](span y, span target, std::span<double> dy) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      dy[i] = (y[i] > target[i] ? 1.0 : -1.0) / static_cast<double>(y.size());
      sum += std::abs(y[i] - target[i]) / static_cast<double>(y.size());
    }
    return sum;
  });
  const nn::own_loss<double> logarithmic([](span y, int target, std::span<double> dy) {
    double all = 0;
    for (const double logit : y) all += std::exp(logit);
    for (std::size_t i = 0; i < y.size(); ++i) dy[i] = std::exp(y[i]) / all;
    dy[static_cast<std::size_t>(target)] -= 1;
    return std::log(all) - y[static_cast<std::size_t>(target)];
  });
  const nn::matrix<double> y = numbers(4, 6, 1), t = numbers(4, 6, 2);
  const std::vector<int> labels{0, 2, 1, 3, 2, 0};
  const auto check_equal = [&](const auto& own, const nn::loss& its, const nn::targets<double>& targets) {
    nn::matrix<double> dy, expected;
    CHECK(own(y, targets, dy) == doctest::Approx(its(y, targets, expected)).epsilon(1e-12));
    CHECK((dy - expected).norm() < 1e-12);
    CHECK(own.weight(targets) == its.weight(targets));
    CHECK(own.over(y, targets, dy, 9) == doctest::Approx(its.over(y, targets, expected, 9)).epsilon(1e-12));
    CHECK((dy - expected).norm() < 1e-12);
  };
  for (const bool has_weights : {false, true}) {
    const auto with = [&](const nn::targets<double>& plain) {
      return has_weights ? plain.with_weights(weights) : plain;
    };
    check_equal(absolute, nn::mae(), with(t));
    check_equal(logarithmic, nn::cross_entropy(), with(labels));
  }
  nn::matrix<double> dy;
  CHECK(thrown<manta::error>([&] { absolute(y, labels, dy); }) ==
        "manta: nn: own_loss: the data have classes as targets, and the loss's function takes numbers (std::span)");
  CHECK(contains(thrown<manta::error>([&] { logarithmic(y, t, dy); }), "have numbers as targets"));
  const nn::matrix<double> fewer = t.leftCols(5);
  CHECK(contains(thrown<manta::error>([&] { absolute(y, fewer, dy); }), "6 samples have 5 targets"));
  CHECK(contains(thrown<manta::error>([&] { nn::own_loss<double>()(y, t, dy); }), "this loss is empty"));
}

TEST_CASE("weights of samples and of classes multiply in cross entropy, with smoothing and a class that is ignored") {
  const std::vector<int> labels{0, 2, 1, -1, 2, 0};
  const std::vector<double> of_classes{1, 4, 0.5};
  const nn::loss loss = nn::cross_entropy({.weights = of_classes, .smoothing = 0.1, .ignore = -1});
  nn::matrix<double> y = numbers(3, 6, 1), dy;
  const auto weighted = nn::targets<double>(labels).with_weights(weights);
  // PyTorch's definition: sum w_c (log sum e^y - y_c) over the smoothed classes, divided by the sum of the labels' w.
  double sum = 0, divisor = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    if (labels[i] < 0) continue;
    const auto column = y.col(static_cast<Eigen::Index>(i)).array();
    const double log_sum = std::log(column.exp().sum()), w = static_cast<double>(weights[i]);
    for (int k = 0; k < 3; ++k) {
      const double part = (k == labels[i] ? 0.9 : 0) + 0.1 / 3;
      sum += w * of_classes[static_cast<std::size_t>(k)] * part * (log_sum - column(k));
    }
    divisor += w * of_classes[static_cast<std::size_t>(labels[i])];
  }
  CHECK(loss(y, weighted, dy) == doctest::Approx(sum / divisor).epsilon(1e-12));
  const nn::matrix<double> gradient = dy;
  CHECK(difference(std::span(y.data(), 18), std::span(gradient.data(), 18), [&] { return loss(y, weighted, dy); }) <
        1e-6);
}

TEST_CASE("a sample of weight 2 is a sample that is there twice, also where it has a class for each position") {
  const nn::matrix<float> y = numbers(6, 2, 4).cast<float>();  // two positions of three classes
  nn::matrix<float> thrice(6, 3), dy, unused;
  thrice << y.col(0), y.col(1), y.col(1);
  const std::vector<int> labels{0, 2, 1, 1}, twice{0, 2, 1, 1, 1, 1};
  const std::vector<float> one_and_two{1, 2};
  const nn::loss loss = nn::cross_entropy();
  const auto weighted = nn::targets<float>(labels).with_weights(one_and_two);
  CHECK(loss.weight(weighted) == 6);
  CHECK(loss(y, weighted, dy) == doctest::Approx(loss(thrice, twice, unused)).epsilon(1e-6));
  CHECK((dy.col(1) - 2 * unused.col(1)).norm() < 1e-6F);
}

TEST_CASE("weights of another number than samples are refused") {
  nn::matrix<double> y = numbers(3, 2, 1), dy;
  const std::vector<int> labels{0, 1};
  CHECK(thrown<manta::error>([&] { nn::cross_entropy()(y, nn::targets<double>(labels).with_weights(weights), dy); }) ==
        "manta: nn: cross_entropy: there are outputs for 2 samples, and 6 weights");
}
