// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Test sets: predictions and evaluations on all ranks, scores of a whole data set, and parts of it. The oracles are
// loops by hand and the examples in scikit-learn's documentation.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "support/world.hpp"

namespace nn = manta::nn;
namespace train = manta::train;
using manta::testing::clouds;
using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::three_clouds;
using manta::testing::thrown;
using manta::testing::workers;

namespace {

/// Outputs whose largest is that of this class.
Eigen::MatrixXf outputs_of(const std::vector<int>& classes, int count) {
  Eigen::MatrixXf y = Eigen::MatrixXf::Zero(count, static_cast<Eigen::Index>(classes.size()));
  for (std::size_t i = 0; i < classes.size(); ++i) y(classes[i], static_cast<Eigen::Index>(i)) = 1;
  return y;
}
nn::matrix<double> numbers_of(const train::samples& s) {
  std::vector<std::uint64_t> all(s.size());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  train::batch<double> b;
  s.take(all, b);
  return b.x;
}

}  // namespace

TEST_CASE("predictions and evaluations of any data are those of a loop by hand, on any number of ranks") {
  in_world([] {
    train::trainer trainer(three_clouds{}, {.workers = workers(), .batch = 50, .seed = 3});
    trainer.train();
    const train::samples test = clouds(7, 1000);
    const nn::matrix<double> x = numbers_of(test);
    nn::network<double> net = trainer.model();
    nn::matrix<double> expected(3, 1000);
    for (Eigen::Index at = 0; at < 1000; at += 256) {
      const Eigen::Index count = std::min<Eigen::Index>(256, 1000 - at);
      expected.middleCols(at, count) = net.forward(x.middleCols(at, count));
    }
    CHECK(trainer.predict(test) == expected);  // the same bits
    CHECK(train::predict(net, x) == expected);

    std::vector<int> labels(1000);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 3);
    const train::summary s = trainer.evaluate(test);
    CHECK(s.samples == 1000);
    CHECK(s["accuracy"] == doctest::Approx(train::accuracy(expected, labels)));
    nn::matrix<double> unused;
    CHECK(s.loss == doctest::Approx(nn::cross_entropy()(expected, nn::targets<double>(labels), unused)));
    CHECK(s.metrics.count("size") == 1);  // the recipe's own
    CHECK(trainer.evaluate(three_clouds().validation_data()).loss == doctest::Approx(trainer.validate().loss));
    CHECK(trainer.evaluate(test.range(0, 0)).samples == 0);
    const std::string text =
        thrown<manta::error>([&] { (void)train::predict(net, Eigen::MatrixXd::Zero(5, 3).eval()); });
    CHECK(contains(text, "takes columns of 8 numbers"));
    CHECK(text.starts_with("manta: nn: the network"));  // and not the task of the library
    CHECK(trainer.predict(x) == expected);
    CHECK((trainer.predict(x.cast<float>().leftCols(3)) - expected.leftCols(3)).norm() < 1e-4);

    const train::samples nothing = test.with_weights(std::vector<float>(1000, 0));
    CHECK(contains(thrown<manta::error>([&] { (void)trainer.evaluate(nothing); }),
                   "the 1000 samples whose mean loss is asked for have the weight 0 together"));
  });
}

TEST_CASE("scores of a data set are scikit-learn's") {
  CHECK(train::confusion(outputs_of({0, 0, 2, 2, 0, 2}, 3), std::vector<int>{2, 0, 2, 2, 0, 1}) ==
        (Eigen::Matrix3i() << 2, 0, 0, 0, 0, 1, 1, 0, 2).finished());
  const std::vector<int> labels{0, 1, 2, 0, 1, 2};
  const Eigen::MatrixXf y = outputs_of({0, 2, 1, 0, 0, 1}, 3);
  CHECK(train::f1(y, labels) == doctest::Approx(0.26666667));
  CHECK(train::accuracy(y, labels) == doctest::Approx(1. / 3));
  const auto scores = train::class_scores(y, labels);
  CHECK(scores[0].precision == doctest::Approx(2. / 3));
  CHECK(scores[0].recall == 1);
  CHECK(scores[0].f1 == doctest::Approx(0.8));
  CHECK(scores[2].count == 2);
  CHECK(scores[2].f1 == 0);
  const Eigen::MatrixXd top =
      (Eigen::MatrixXd(3, 4) << 0.5, 0.3, 0.2, 0.7, 0.2, 0.4, 0.4, 0.2, 0.2, 0.2, 0.3, 0.1).finished();
  CHECK(train::top_k(top, std::vector<int>{0, 1, 2, 2}, 2) == 0.75);
  CHECK(train::top_k(top, std::vector<int>{0, 1, 2, 2}, 3) == 1);
  const Eigen::RowVector4f one(0.1f, 0.4f, 0.35f, 0.8f);
  CHECK(train::auc(one, std::vector<int>{0, 0, 1, 1}) == doctest::Approx(0.75));
  CHECK(train::auc(Eigen::RowVector4f(1, 1, 1, 1), std::vector<int>{0, 1, 0, 1}) == 0.5);
  Eigen::MatrixXf two(2, 4);
  two << 1 - one.array(), one;
  CHECK(train::auc(two, std::vector<int>{0, 0, 1, 1}) == doctest::Approx(0.75));
  CHECK(train::r2(Eigen::RowVector4d(2.5, 0, 2, 8), Eigen::RowVector4d(3, -0.5, 2, 7)) == doctest::Approx(0.948608137));
  const Eigen::MatrixXd t = (Eigen::MatrixXd(2, 3) << 0.5, -1, 7, 1, 1, -6).finished(),
                        p = (Eigen::MatrixXd(2, 3) << 0, -1, 8, 2, 2, -5).finished();
  CHECK(train::r2(p, t) == doctest::Approx(0.936800526));
}

TEST_CASE("scores refuse what they cannot mean") {
  const Eigen::MatrixXf y = outputs_of({0, 1}, 2);
  CHECK(contains(thrown<manta::error>([&] { (void)train::accuracy(y, std::vector<int>{0}); }),
                 "predictions for 2 samples, and 1 labels"));
  CHECK(contains(thrown<manta::error>([&] {
                   (void)train::confusion(y, std::vector<int>{0, 2});
                 }),
                 "the label 2 of sample 1 is none of the 2 classes, 0 to 1"));
  CHECK(contains(thrown<manta::error>([&] {
                   (void)train::auc(y, std::vector<int>{1, 1});
                 }),
                 "samples of one class alone"));
  CHECK(contains(thrown<manta::error>([&] {
                   (void)train::auc(outputs_of({0, 1}, 3), std::vector<int>{0, 1});
                 }),
                 "one or two outputs, not 3"));
  CHECK(contains(thrown<manta::error>([&] { (void)train::top_k(y, std::vector<int>{0, 1}, 0); }), "k is 0"));
  CHECK(contains(thrown<manta::error>([&] { (void)train::r2(y, outputs_of({0}, 2)); }), "2 x 2, and targets 2 x 1"));
}

TEST_CASE("a data set is divided at random, each sample once, the same way for a seed") {
  const train::samples all = clouds(1, 103);
  const auto parts = train::split(all, {0.8, 0.1, 0.1}, 5);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].size() == 82);
  CHECK(parts[1].size() + parts[2].size() == 21);
  std::multiset<double> found, expected;  // the first number of each sample
  for (const train::samples& part : parts) {
    const nn::matrix<double> x = numbers_of(part);
    for (Eigen::Index i = 0; i < x.cols(); ++i) found.insert(x(0, i));
  }
  const nn::matrix<double> x = numbers_of(all);
  for (Eigen::Index i = 0; i < x.cols(); ++i) expected.insert(x(0, i));
  CHECK(found == expected);
  CHECK(numbers_of(train::split(all, {0.5}, 5)[0]) == numbers_of(train::split(all, {0.5}, 5)[0]));
  CHECK(numbers_of(train::split(all, {0.5}, 5)[0]) != numbers_of(train::split(all, {0.5}, 6)[0]));

  std::multiset<double> validated;
  for (const auto& [training, validation] : train::folds(all, 4, 1)) {
    CHECK(training.size() + validation.size() == 103);
    const nn::matrix<double> v = numbers_of(validation);
    for (Eigen::Index i = 0; i < v.cols(); ++i) validated.insert(v(0, i));
  }
  CHECK(validated == expected);
  const train::samples pictures = all.with(nn::shape{2, 4});
  CHECK(train::split(pictures, {0.5}, 1)[0].extents() == nn::shape{2, 4});

  CHECK(contains(thrown<manta::error>([&] { (void)train::split(all, {0.8, 0.3}, 1); }), "add up to 1.1"));
  CHECK(contains(thrown<manta::error>([&] { (void)train::split(all, {0.5, 0}, 1); }), "the share 0 is not above 0"));
  CHECK(contains(thrown<manta::error>([&] { (void)train::split(all, {0.001}, 1); }), "would be empty"));
  CHECK(contains(thrown<manta::error>([&] { (void)train::folds(all, 1, 1); }), "from 2 to the number of samples, 103"));
  CHECK(contains(thrown<manta::error>([&] { (void)all.range(100, 4); }),
                 "samples 100 to 104 were asked for; there are 103"));
}
