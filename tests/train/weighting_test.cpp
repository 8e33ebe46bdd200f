// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trainings whose samples have weights, in the loss or in how often they are drawn, and the callbacks of fit. The oracle
// is a loop by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::distance;
using manta::testing::in_world;
using manta::testing::three_clouds;
using manta::testing::thrown;
using manta::testing::workers;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

std::vector<float> weights_of(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i % 5) / 2;
  return all;
}

/// Samples count by weights of their own, or are drawn by them.
struct weighted_clouds : three_clouds {
  bool in_loss = true, draws = false, augments = false;
  double wrong = 1;  ///< a factor of the weight of sample 8 in the sampling, on the last rank

  train::samples training_data() const {
    const train::samples all = manta::testing::clouds(1, samples);
    return in_loss ? all.with_weights(weights_of(all.size())) : all;
  }
  std::vector<double> sampling_weights(const train::samples& data) const {
    if (!draws) return std::vector<double>(data.size(), 1.0);
    std::vector<double> all = train::sample_weights(data.labels(), std::vector<double>{1, 0, 3});
    if (manta::rank() + 1 == manta::size()) all[8] *= wrong;
    return all;
  }
  void augment(std::span<double> sample, train::draws& random) const {
    if (augments) sample[0] += random.normal();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    three_clouds::serialize(archive);
    archive(CEREAL_NVP(in_loss), CEREAL_NVP(draws), CEREAL_NVP(augments), CEREAL_NVP(wrong));
  }
};

/// As weighted_clouds, but each sample comes once.
struct weighted_in_order : three_clouds {
  train::samples training_data() const {
    const train::samples all = manta::testing::clouds(1, samples);
    return all.with_weights(weights_of(all.size()));
  }
};

/// The samples of an epoch, drawn by the sums of the weights.
std::vector<std::uint64_t> drawn(std::uint64_t seed, std::uint64_t epoch, const std::vector<double>& weights) {
  double all = 0;
  for (const double w : weights) all += w;
  const nn::random numbers(seed, epoch, 1);
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    double left = numbers.uniform(i) * all;
    std::size_t at = 0;
    while (left >= weights[at]) left -= weights[at++];
    order.push_back(at);
  }
  return order;
}

std::vector<double> vector_of(std::span<const double> numbers) { return {numbers.begin(), numbers.end()}; }

/// The parameters after an epoch in this order: each batch's gradient is the sum of the weighted gradients of its
/// samples, one by one, divided by the sum of the weights.
std::vector<double> by_hand(const three_clouds& recipe, const std::vector<std::uint64_t>& order, bool has_weights,
                            bool augments = false) {
  nn::network<double> net = recipe.model();
  net.initialise(7);
  nn::adam optimizer = recipe.optimizer();
  const train::samples data = recipe.training_data();
  const std::vector<float> weights = weights_of(data.size());
  std::uint64_t step = 0;
  for (std::size_t begin = 0; begin < order.size(); begin += 43, ++step) {
    net.zero_gradients();
    const std::size_t end = std::min<std::size_t>(order.size(), begin + 43);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += has_weights ? static_cast<double>(weights[order[i]]) : 1;
    for (std::size_t i = begin; i < end; ++i) {
      train::batch<double> b;
      data.take(std::span(order).subspan(i, 1), b);
      if (augments) {
        train::draws random(7, step, i);
        b.x(0) += random.normal();
      }
      const auto [loss, dy] = nn::cross_entropy(net.forward(b.x), b.labels);
      net.backward(dy * ((has_weights ? static_cast<double>(weights[order[i]]) : 1) / sum));
    }
    optimizer.step(net);
  }
  return vector_of(net.parameters());
}

}  // namespace

TEST_CASE("weights of samples give the weighted mean in each step, for any number of workers and parts") {
  in_world([] {
    const weighted_in_order recipe;
    const auto wanted = by_hand(recipe, manta::testing::order_of(7, 0, 301), true);
    for (int n = 1; n <= workers(); ++n) {
      for (const int parts : {1, 3}) {
        train::trainer trainer(recipe, {.workers = n, .batch = 43, .seed = 7, .accumulate = parts});
        const train::summary s = trainer.train();
        CHECK(distance(vector_of(trainer.model().parameters()), wanted) < 1e-9);
        CHECK(s.samples == 301);
      }
    }
    // A summary's loss is the weighted mean, its accuracy that over all samples.
    train::trainer trainer(recipe, {.workers = workers(), .batch = 43, .seed = 7});
    const auto net = trainer.model();
    const train::samples data = recipe.training_data();
    const train::summary s = trainer.evaluate(data);
    const nn::matrix<double> y = train::predict(net, data);
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const nn::matrix<double> its = y.col(static_cast<Eigen::Index>(i));
      sum += static_cast<double>(data.weights()[i]) * nn::cross_entropy(its, std::vector<int>{data.labels()[i]}).value;
      all += static_cast<double>(data.weights()[i]);
    }
    CHECK(s.loss == doctest::Approx(sum / all).epsilon(1e-10));
    CHECK(s["accuracy"] == doctest::Approx(train::accuracy(y, data.labels())).epsilon(1e-12));
  });
}

TEST_CASE("samples are drawn by their weights, the same ones for any number of workers, and a restart goes on") {
  in_world([] {
    weighted_clouds recipe;
    recipe.in_loss = false;
    recipe.draws = true;
    recipe.augments = true;
    const train::samples data = recipe.training_data();
    const std::vector<double> weights = train::sample_weights(data.labels(), std::vector<double>{1, 0, 3});
    const auto order = drawn(7, 0, weights);
    const auto of_class = [&](int k) {
      return std::ranges::count_if(order, [&](std::uint64_t i) { return data.labels()[i] == k; });
    };
    CHECK(of_class(1) == 0);
    CHECK(of_class(2) > 2 * of_class(0));
    const auto wanted = by_hand(recipe, order, false, true);
    for (int n = 1; n <= workers(); ++n) {
      const train::options o{.workers = n, .batch = 43, .seed = 7};
      train::trainer trainer(recipe, o);
      trainer.train(3);
      const train::state middle = trainer.state();
      trainer.train();
      const auto its = vector_of(trainer.model().parameters());
      CHECK(distance(its, wanted) < 1e-9);
      train::trainer again(recipe, o);
      again.restore(middle);
      again.train();
      CHECK(vector_of(again.model().parameters()) == its);  // the same bits
    }
  });
}

TEST_CASE("weights stay with their samples wherever these go") {
  const train::samples all = manta::testing::clouds(1, 30).with_weights(weights_of(30));
  const train::samples part = all.part(1, 3);
  CHECK(part.weights().size() == 10);
  CHECK(part.weights()[4] == all.weights()[14]);
  CHECK(part.with_weights(weights_of(10)).weights()[4] == weights_of(10)[4]);
  CHECK(part.with_weights(weights_of(10)).labels()[4] == all.labels()[14]);
  const std::vector<std::uint64_t> some{29, 3};
  CHECK(all.chosen(some).weights()[0] == all.weights()[29]);
  train::batch<float> b;
  part.take(some.size() == 2 ? std::vector<std::uint64_t>{9, 3} : some, b);
  CHECK(b.weights == std::vector<float>{all.weights()[19], all.weights()[13]});
  train::samples read;
  manta::output::unpack(manta::output::pack(part), read);
  CHECK(std::ranges::equal(read.weights(), part.weights()));
  std::vector<unsigned char> bytes(part.write_shared(nullptr));
  part.write_shared(bytes.data());
  const train::samples shared = train::samples::share(bytes, {});
  CHECK(std::ranges::equal(shared.weights(), part.weights()));
  CHECK(shared.is_shared());
  for (const train::samples& each : train::split(all, {0.5, 0.5}, 1)) CHECK(each.weights().size() == 15);
}

TEST_CASE("weights of classes are scikit-learn's balanced ones, and weights that cannot be meant are refused") {
  const std::vector<int> labels{0, 0, 0, 3, 3, 1};
  // n / (classes * count): 6 / (3 * 3), 6 / (3 * 1), 0, 6 / (3 * 2)
  const std::vector<double> balanced = train::class_weights(labels);
  REQUIRE(balanced.size() == 4);
  CHECK(balanced[0] == doctest::Approx(2. / 3));
  CHECK(balanced[1] == doctest::Approx(2));
  CHECK(balanced[2] == 0);
  CHECK(balanced[3] == doctest::Approx(1));
  CHECK(train::sample_weights(labels, balanced)[5] == balanced[1]);
  CHECK(contains(thrown<manta::error>([&] {
                   (void)train::sample_weights(labels, std::vector<double>{1, 1});
                 }),
                 "sample 3 has the class 3, and there are weights for the classes 0 to 1"));
  CHECK(contains(thrown<manta::error>([&] {
                   (void)train::class_weights(std::vector<int>{0, -1});
                 }),
                 "sample 1 has the class -1"));
  const train::samples data = manta::testing::clouds(1, 3);
  CHECK(contains(thrown<manta::error>([&] { (void)data.with_weights({1, 2}); }), "3 samples and 2 weights of samples"));
  CHECK(contains(thrown<manta::error>([&] {
                   (void)data.with_weights({1, -2, 1});
                 }),
                 "the weight of sample 1 is -2; it has to be at least 0"));

  in_world([] {
    weighted_clouds recipe;
    recipe.draws = true;
    recipe.wrong = -1;
    CHECK(contains(thrown<manta::error>([&] { train::trainer(recipe, {.workers = manta::size()}); }),
                   "sampling_weights() gives sample 8 the weight -3; it has to be at least 0"));
    if (manta::size() < 2) return;
    recipe.wrong = 2;
    CHECK(contains(thrown<manta::error>([&] { train::trainer(recipe, {.workers = manta::size()}); }),
                   "what sampling_weights() gives on rank"));
  });
}

TEST_CASE("callbacks are called in their order, after the steps that they ask for, and may use the trainer") {
  in_world([] {
    const train::options o{.workers = workers(), .batch = 43, .seed = 4};
    train::trainer trainer(three_clouds{}, o), plain(three_clouds{}, o);
    std::vector<std::uint64_t> steps, begun;
    std::vector<double> losses;
    std::string calls;
    int ended = 0;
    const train::history h = trainer.fit(
        {.epochs = 2,
         .progress = false,
         .on_epoch = [&](const train::epoch_result&) { calls += "a"; },
         .callbacks = {{.on_epoch_begin = [&](std::uint64_t epoch) { begun.push_back(epoch); },
                        .on_batch =
                            [&](const train::summary& s) {
                              steps.push_back(s.step);
                              losses.push_back(s.loss);
                            },
                        .every = 3,
                        .on_end = [&](const train::history& all) { ended += static_cast<int>(all.epochs.size()); }},
                       {.on_epoch = [&](const train::epoch_result& e) {
                         calls += "b";
                         CHECK(trainer.state().epoch == e.training.epoch);
                       }}}});
    CHECK(steps == std::vector<std::uint64_t>{3, 6, 9, 12});  // seven steps an epoch
    CHECK(begun == std::vector<std::uint64_t>{0, 1});
    CHECK(calls == "abab");
    CHECK(ended == 2);
    CHECK(plain.train(3).loss == doctest::Approx(losses[0]).epsilon(1e-12));
    plain.train();
    plain.train();
    CHECK(manta::testing::parameters(plain) == manta::testing::parameters(trainer));  // calls change nothing
    CHECK(contains(thrown<manta::error>([&] { trainer.fit({.epochs = 9, .callbacks = {{.every = 0}}}); }),
                   ".every of a callback is 0"));
  });
}

TEST_CASE("a callback ends the training after a batch or an epoch, and a later start goes on from there") {
  in_world([] {
    const manta::testing::folder place;
    const train::options o{.workers = workers(), .batch = 43, .seed = 4};
    train::trainer first(three_clouds{}, o);
    const train::history h =
        first.fit({.epochs = 3,
                   .checkpoint = place.path + "/state",
                   .progress = false,
                   .callbacks = {{}, {.on_batch = [](const train::summary& s) { return s.step < 10; }}}});
    CHECK(h.ended == "callback 1 said so");
    CHECK(h.epochs.size() == 1);
    CHECK(first.state().step == 10);
    train::trainer second(three_clouds{}, o), whole(three_clouds{}, o);
    const train::history rest = second.fit({.epochs = 3, .checkpoint = place.path + "/state", .progress = false});
    CHECK(rest.epochs.size() == 3);
    whole.fit({.epochs = 3, .progress = false});
    CHECK(manta::testing::parameters(second) == manta::testing::parameters(whole));

    train::trainer third(three_clouds{}, o);
    const train::history stopped =
        third.fit({.epochs = 9, .progress = false, .callbacks = {{.on_epoch = [](const train::epoch_result& e) {
                                                     return e.training.epoch < 2;
                                                   }}}});
    CHECK(stopped.epochs.size() == 2);
    CHECK(stopped.ended == "callback 0 said so");
    const train::history none = third.fit(
        {.epochs = 9, .progress = false, .callbacks = {{.on_epoch_begin = [](std::uint64_t) { return false; }}}});
    CHECK(none.epochs.empty());
    CHECK(third.state().epoch == 2);
  });
}
