// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trainings in which some parameters have a rate or a decay of their own, or are frozen, means of weights, and rates that
// are found or that follow the loss. The oracle is a loop by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "support/campaign.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::distance;
using manta::testing::in_world;
using manta::testing::three_clouds;
using manta::testing::workers;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

/// The first layer stays as it is, the biases do not decay, and the weights have means.
struct tuned : three_clouds {
  nn::network<double> model() const {
    nn::network<double> net(nn::shape{8}, nn::linear(hidden), nn::tanh(), nn::linear(hidden), nn::tanh(),
                            nn::linear(3));
    net.initialise(5);
    net.freeze("0.*");
    return net;
  }
  nn::adamw optimizer() const {
    return nn::adamw({.rate = rate,
                      .weight_decay = 0.1,
                      .ema = 0.9,
                      .groups = {{.dimensions = 1, .weight_decay = 0}, {.arrays = "4.*", .rate = 0.5}}});
  }
};

/// The optimiser alone has the rate.
struct clouds_without_schedule {
  double rate = 1e-2;

  nn::network<double> model() const { return three_clouds().model(); }
  nn::sgd optimizer() const { return nn::sgd({.rate = rate}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return manta::testing::clouds(1, 301); }
  train::samples validation_data() const { return manta::testing::clouds(2, 100); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate));
  }
};

/// A U-Net with two levels, which finds the sum of each pixel's neighbours.
struct unet {
  nn::network<double> model() const { return of_channels(1); }
  static nn::network<double> of_channels(int factor) {
    nn::graph g;
    const auto block = [](int channels) {
      return nn::sequential(nn::conv2d(channels, 3, {.padding = 1}), nn::batch_norm({.all_workers = true}), nn::relu());
    };
    const nn::node x = g.input({1, 8, 8});
    const nn::node one = g.add("one", block(4 * factor), x);
    const nn::node two = g.add("two", nn::sequential(nn::max_pool(2), block(6 * factor)), one);
    const nn::node low = g.add("low", nn::sequential(nn::max_pool(2), block(8 * factor), nn::upsample(2)), two);
    const nn::node up =
        g.add("up", nn::sequential(block(6 * factor), nn::conv2d_transposed(4 * factor, 2, {.stride = 2})),
              g.concat({two, low}));
    const nn::node out = g.add("out", nn::conv2d(1, 3, {.padding = 1}), g.concat({one, up}));
    return nn::network<double>(g.input_shape(), g.outputs({out}));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 1e-3}); }
  nn::loss loss() const { return nn::mae(); }
  train::samples training_data() const {
    const nn::random r(3);
    Eigen::MatrixXd x(64, 24), y = Eigen::MatrixXd::Zero(64, 24);
    for (int i = 0; i < x.size(); ++i) x(i) = r.normal(static_cast<std::uint64_t>(i));
    for (int i = 0; i < 63; ++i) y.row(i) = x.row(i) + x.row(i + 1);
    return train::samples(std::move(x), std::move(y));
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// The same with channels enough for a million parameters.
struct large_unet : unet {
  nn::network<double> model() const { return of_channels(27); }
};

/// Sentences of different lengths; the class of each word is whether it is even, and that of padding is ignored.
struct sentences {
  struct words {
    [[nodiscard]] std::size_t size() const { return 50; }
    void take(std::span<const std::uint64_t> which, train::batch<double>& to) const {
      to.x.setZero(6, static_cast<Eigen::Index>(which.size()));
      to.labels.assign(6 * which.size(), -1);
      for (std::size_t i = 0; i < which.size(); ++i) {
        const std::size_t length = 1 + which[i] % 6;
        for (std::size_t k = 0; k < length; ++k) {
          const int word = 1 + static_cast<int>((3 * which[i] + k * k) % 8);
          to.x(static_cast<int>(k), static_cast<int>(i)) = word;
          to.labels[6 * i + k] = word % 2;
        }
      }
    }
  };
  nn::network<double> model() const {
    return nn::network<double>(nn::shape{6},
                               nn::masked(0, {nn::embedding(9, 4), nn::residual(nn::attention(2)), nn::linear(2)}));
  }
  nn::adam optimizer() const { return nn::adam({.rate = 0.03}); }
  nn::loss loss() const { return nn::cross_entropy({.ignore = -1}); }
  words training_data() const { return {}; }
  words validation_data() const { return {}; }
  template <class Archive>
  void serialize(Archive&) {}
};

/// All samples in each step, by L-BFGS; or a momentum that follows the epoch.
struct by_curvature {
  int samples = 90;
  nn::network<double> model() const { return three_clouds().model(); }
  nn::lbfgs optimizer() const { return nn::lbfgs({.history = 5, .weight_decay = 1e-3}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const { return manta::testing::clouds(1, samples); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(samples));
  }
};
struct with_momentum : clouds_without_schedule {
  nn::sgd optimizer() const { return nn::sgd({.rate = rate, .momentum = 0.9}); }
  double momentum(double epoch) const { return nn::one_cycle_momentum(2)(epoch); }
};

std::vector<double> vector_of(std::span<const double> numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

TEST_CASE("a trainer with frozen layers, groups and means gives what a loop by hand gives, for any number of workers") {
  in_world([] {
    const tuned recipe;
    nn::network<double> net = recipe.model();
    const std::vector<double> before = vector_of(net.parameters());
    nn::adamw optimizer = recipe.optimizer();
    const train::samples data = recipe.training_data();
    for (int epoch = 0; epoch < 2; ++epoch) {
      const std::vector<std::uint64_t> order = manta::testing::order_of(7, epoch, data.size());
      for (std::size_t at = 0; at < order.size(); at += 43) {
        train::batch<double> b;
        data.take(std::span(order).subspan(at, std::min<std::size_t>(order.size() - at, 43)), b);
        const auto [loss, dy] = nn::cross_entropy(net.forward(b.x), b.labels);
        net.zero_gradients();
        net.backward(dy);
        optimizer.step(net);
      }
    }
    const std::vector<double> means = vector_of(optimizer.averages<double>());
    const manta::testing::folder dir;
    for (int n = 1; n <= workers(); ++n) {
      train::trainer trainer(recipe, {.workers = n, .batch = 43, .seed = 7});
      trainer.train();
      const train::state middle = trainer.state();
      trainer.train();
      const auto its = trainer.model();
      CHECK(distance(vector_of(its.parameters()), means) < 1e-12);
      CHECK(std::ranges::equal(its.parameters().first(8 * 16 + 16), std::span(before).first(8 * 16 + 16)));
      CHECK(its.arrays()[0].frozen);

      // Files and states have both, parameters and means.
      trainer.save(dir.path + "/state");
      CHECK(train::load_model<nn::network<double>>(dir.path + "/state").parameters()[200] == its.parameters()[200]);
      CHECK(trainer.validate().loss ==
            doctest::Approx(train::evaluate(recipe, its, recipe.validation_data()).loss).epsilon(1e-12));
      train::trainer again(recipe, {.workers = n, .batch = 43, .seed = 7});
      again.restore(middle);
      again.train();
      CHECK(vector_of(again.model().parameters()) == vector_of(its.parameters()));  // the same bits
    }
  });
}

TEST_CASE("fit lowers the rate on a plateau, also after it has gone on from a checkpoint") {
  in_world([] {
    const manta::testing::folder dir;
    const clouds_without_schedule recipe{.rate = 2};  // too large: the loss rises now and then
    const train::options options{.workers = workers(), .batch = 43, .seed = 7};
    const nn::plateau_options lower{.factor = 0.5, .patience = 0, .least_change = 0.01};
    train::trainer trainer(recipe, options);
    const train::history h = trainer.fit({.epochs = 8, .plateau = lower, .progress = false});
    nn::plateau by_hand(lower);
    double rate = 2;
    for (const train::epoch_result& e : h.epochs) {
      CHECK(e.training.rate == rate);
      rate = by_hand.next(e.validation.loss, rate);
    }
    CHECK(rate < 2);

    const std::string file = dir.path + "/state";
    train::trainer(recipe, options).fit({.epochs = 4, .checkpoint = file, .plateau = lower, .progress = false});
    train::trainer rest(recipe, options);
    const train::history again = rest.fit({.epochs = 8, .checkpoint = file, .plateau = lower, .progress = false});
    for (std::size_t i = 0; i < 8; ++i) CHECK(again.epochs[i].training.rate == h.epochs[i].training.rate);
    CHECK(vector_of(rest.model().parameters()) == vector_of(trainer.model().parameters()));
  });
}

TEST_CASE("find_rate tries rates that grow, suggests one, and leaves the training where it was") {
  in_world([] {
    const clouds_without_schedule recipe;
    train::trainer trainer(recipe, {.workers = workers(), .batch = 43, .seed = 7}),
        other(recipe, {.workers = workers(), .batch = 43, .seed = 7});
    const train::rate_curve c = trainer.find_rate({.least = 1e-4, .most = 1e4, .steps = 60});
    REQUIRE(c.losses.size() > 20);
    CHECK(c.losses.size() < 60);  // the loss has become too large before
    CHECK(c.rates[0] == 1e-4);
    CHECK(c.rates[1] == doctest::Approx(1e-4 * std::pow(1e8, 1. / 59)));
    CHECK(c.smoothed[1] == doctest::Approx((0.98 * c.losses[0] + c.losses[1]) / 1.98));
    CHECK(c.suggested > 1e-2);
    CHECK(c.suggested < 20);
    trainer.train();
    other.train();
    CHECK(vector_of(trainer.model().parameters()) == vector_of(other.model().parameters()));
    CHECK(train::detail::steepest_fall({.rates = {1, 2, 3, 4}, .losses = {}, .smoothed = {5, 4.5, 2, 2}}) == 2);
    const auto refused = [](auto&& f) { return manta::testing::thrown<manta::error>(f); };
    CHECK(refused([&] {
            trainer.find_rate({.least = 0});
          }).starts_with("manta: train: find_rate: .least is 0 and .most 10; rates above 0 are needed"));
    train::trainer scheduled(three_clouds{}, {.batch = 43});
    CHECK(refused([&] { scheduled.find_rate(); }) ==
          "manta: train: the recipe's learning_rate() sets the rate in each step, and find_rate tries others: take one "
          "of them away");
    CHECK(refused([&] { scheduled.fit({.plateau = nn::plateau_options{}}); }).find("fit with .plateau lowers it") !=
          std::string::npos);
  });
}

TEST_CASE("a U-Net trains on any number of workers as on one") {
  in_world([] {
    std::vector<double> one;
    for (int n = 1; n <= std::min(2, workers()); ++n) {
      train::trainer trainer(unet{}, {.workers = n, .batch = 8, .seed = 7});
      const double first = trainer.train().loss;
      const train::summary s = trainer.train();
      CHECK(s.loss < first);
      const std::vector<double> parameters = vector_of(trainer.model().parameters());
      if (n == 1) one = parameters;
      CHECK(distance(parameters, one) < 1e-10);
    }
  });
}

TEST_CASE("a U-Net of a million parameters makes the same steps on two workers as on one") {
  if (!manta::testing::is_long()) return;
  in_world([] {
    if (manta::size() < 2) return;
    train::trainer one(large_unet{}, {.workers = 1, .batch = 4, .seed = 7});
    train::trainer two(large_unet{}, {.workers = 2, .batch = 4, .seed = 7});
    CHECK(one.model().parameters().size() > 1'000'000);
    for (int step = 0; step < 3; ++step) {
      one.train(1);
      two.train(1);
      CHECK(distance(vector_of(one.model().parameters()), vector_of(two.model().parameters())) < 1e-6);
    }
  });
}

TEST_CASE("padding counts neither in the loss nor in the accuracy, for any number of workers") {
  in_world([] {
    const sentences recipe;
    train::batch<double> b;
    std::vector<std::uint64_t> all(50);
    std::iota(all.begin(), all.end(), 0U);
    recipe.training_data().take(all, b);
    for (int n = 1; n <= workers(); ++n) {
      train::trainer trainer(recipe, {.workers = n, .batch = 20, .seed = 7});
      for (int epoch = 0; epoch < 3; ++epoch) trainer.train();
      auto net = trainer.model();
      const nn::matrix<double> y = net.forward(b.x);
      double right = 0, counted = 0, loss = 0;
      for (int i = 0; i < 300; ++i) {
        const int label = b.labels[static_cast<std::size_t>(i)];
        if (label < 0) continue;
        const double a = y(2 * (i % 6), i / 6), c = y(2 * (i % 6) + 1, i / 6), its = label == 0 ? a : c;
        right += its >= std::max(a, c);
        loss += std::log(std::exp(a) + std::exp(c)) - its;
        ++counted;
      }
      const train::summary v = trainer.validate();
      CHECK(v["accuracy"] == doctest::Approx(right / counted).epsilon(1e-12));
      CHECK(v.loss == doctest::Approx(loss / counted).epsilon(1e-12));
      CHECK(v.metrics.size() == 1);
    }
  });
}

TEST_CASE("L-BFGS over all workers gives what a loop by hand gives, and is refused for batches of some samples") {
  in_world([] {
    nn::network<double> net = by_curvature().model();
    net.initialise(7);
    nn::lbfgs optimizer = by_curvature().optimizer();
    train::batch<double> b;
    std::vector<std::uint64_t> all(90);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    by_curvature().training_data().take(all, b);
    double first = 0, last = 0;
    for (int step = 0; step < 12; ++step) {
      const auto [loss, dy] = nn::cross_entropy(net.forward(b.x), b.labels);
      net.zero_gradients();
      net.backward(dy);
      optimizer.step(net);
      (step == 0 ? first : last) = loss;
    }
    CHECK(last < 0.5 * first);
    const std::vector<double> wanted = vector_of(net.parameters());
    for (int n = 1; n <= workers(); ++n) {
      train::trainer trainer(by_curvature{}, {.workers = n, .batch = 90, .seed = 7, .accumulate = 2});
      for (int epoch = 0; epoch < 6; ++epoch) trainer.train();
      const train::state middle = trainer.state();
      train::trainer again(by_curvature{}, {.workers = n, .batch = 90, .seed = 7, .accumulate = 2});
      again.restore(middle);
      for (int epoch = 0; epoch < 6; ++epoch) trainer.train(), again.train();
      CHECK(distance(vector_of(trainer.model().parameters()), wanted) < 1e-6);
      CHECK(vector_of(again.model().parameters()) == vector_of(trainer.model().parameters()));
    }
    CHECK(manta::testing::contains(
        manta::testing::thrown<manta::error>([] { train::trainer(by_curvature{}, {.workers = 1, .batch = 32}); }),
        "L-BFGS compares the gradients of neighbouring steps, which have to be of the same "
        "samples and of all workers: set .batch = 90"));
  });
}

TEST_CASE("a recipe's momentum follows the epoch in each step") {
  in_world([] {
    const with_momentum recipe;
    nn::network<double> net = recipe.model();
    net.initialise(7);
    nn::sgd optimizer = recipe.optimizer();
    const train::samples data = recipe.training_data();
    for (int epoch = 0; epoch < 2; ++epoch) {
      const std::vector<std::uint64_t> order = manta::testing::order_of(7, epoch, data.size());
      for (std::size_t at = 0; at < order.size(); at += 43) {
        train::batch<double> b;
        data.take(std::span(order).subspan(at, std::min<std::size_t>(order.size() - at, 43)), b);
        const auto [loss, dy] = nn::cross_entropy(net.forward(b.x), b.labels);
        net.zero_gradients();
        net.backward(dy);
        optimizer.momentum(recipe.momentum(epoch + static_cast<double>(at) / static_cast<double>(data.size())));
        optimizer.step(net);
      }
    }
    train::trainer trainer(recipe, {.workers = workers(), .batch = 43, .seed = 7});
    trainer.train();
    trainer.train();
    CHECK(distance(vector_of(trainer.model().parameters()), vector_of(net.parameters())) < 1e-10);
  });
}
