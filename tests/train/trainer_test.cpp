// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trainers: the oracle is one worker, and a loop written by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "manta/tune.hpp"
#include "manta/tune/train.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace nn = manta::nn;
namespace train = manta::train;
namespace tune = manta::tune;
using manta::testing::clouds;
using manta::testing::distance;
using manta::testing::parameters;
using manta::testing::three_clouds;
using manta::testing::thrown;
using manta::testing::workers;

namespace {

/// One sample has a class that is none, so one worker alone throws.
struct wrong_class : three_clouds {
  train::samples training_data() const {
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(8, 60);
    std::vector<int> y(60, 1);
    y[17] = 7;
    return train::samples(std::move(x), std::move(y));
  }
};

/// The loss is NaN in the batch that has sample 150; batch norm has then met its numbers.
struct one_nan : three_clouds {
  nn::network<double> model() const { return nn::network<double>(nn::shape{8}, nn::batch_norm(), nn::linear(3)); }
  train::samples training_data() const {
    Eigen::MatrixXd x = Eigen::MatrixXd::NullaryExpr(
        8, 301, [](Eigen::Index i, Eigen::Index j) { return std::sin(static_cast<double>(8 * j + i)); });
    x(3, 150) = std::numeric_limits<double>::quiet_NaN();
    return train::samples(std::move(x), std::vector<int>(301, 1));
  }
};

/// What the trainer ought to do, by hand.
std::vector<double> by_hand(const three_clouds& recipe, std::uint64_t seed, int batch, int epochs) {
  auto net = recipe.model();
  net.initialise(seed);
  auto optimizer = recipe.optimizer();
  const train::samples data = recipe.training_data();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<std::uint64_t> order = manta::testing::order_of(seed, epoch, data.size());
    for (std::size_t at = 0; at < order.size(); at += static_cast<std::size_t>(batch)) {
      train::batch<double> b;
      data.take(std::span(order).subspan(at, std::min(order.size() - at, static_cast<std::size_t>(batch))), b);
      const auto [loss, dy] =
          nn::cross_entropy(net.forward(b.x), b.labels,
                            {.weights = recipe.is_weighted ? std::vector<double>{1, 2, 3} : std::vector<double>{}});
      net.zero_gradients();
      net.backward(dy);
      optimizer.step(net.parameters(), net.gradients());
    }
  }
  return {net.parameters().begin(), net.parameters().end()};
}

double own_loop(manta::team team, int steps) {
  three_clouds recipe;
  auto net = recipe.model();
  net.initialise(static_cast<std::uint64_t>(team.rank()));  // the first member's count
  train::data_parallel ddp(team, net);
  auto optimizer = recipe.optimizer();
  const train::samples data = clouds(1, 24 * team.size());
  for (int i = 0; i < steps; ++i) {
    std::vector<std::uint64_t> mine(24);
    std::iota(mine.begin(), mine.end(), static_cast<std::uint64_t>(24 * team.rank()));
    train::batch<double> b;
    data.take(mine, b);
    const auto [loss, dy] = nn::cross_entropy(ddp.forward(b.x), b.labels);
    ddp.backward(dy);
    optimizer.step(net.parameters(), net.gradients());
  }
  double sum = 0;
  for (double p : net.parameters()) sum += p * p;
  return sum;
}

}  // namespace

TEST_CASE("any number of workers gives what a loop by hand gives, and the same bits from run to run") {
  in_world([] {
    for (const bool is_weighted : {false, true}) {
      const three_clouds recipe{.is_weighted = is_weighted};
      const std::vector<double> expected = by_hand(recipe, 7, 28, 3);
      for (int n = 1; n <= workers(); ++n) {
        std::vector<std::vector<double>> runs;
        for (int run = 0; run < 2; ++run) {
          train::trainer trainer(recipe, {.workers = n, .batch = 28, .seed = 7, .accumulate = 1 + run * 0});
          train::summary s;
          for (int epoch = 0; epoch < 3; ++epoch) s = trainer.train();
          CHECK(s.epoch == 3);
          CHECK(s.samples == 301);
          CHECK(s.step == 33);
          runs.push_back(parameters(trainer));
        }
        CHECK(runs[0] == runs[1]);
        CHECK(distance(runs[0], expected) < 1e-12);
        train::trainer parts(recipe, {.workers = n, .batch = 28, .seed = 7, .accumulate = 3});
        for (int epoch = 0; epoch < 3; ++epoch) parts.train();
        CHECK(distance(parameters(parts), expected) < 1e-12);
      }
    }
  });
}

TEST_CASE("a summary has the mean norm of the gradients, before they are clipped, and the seconds of each phase") {
  in_world([] {
    const three_clouds recipe;
    const train::samples data = recipe.training_data();
    std::vector<std::uint64_t> all(data.size());
    std::iota(all.begin(), all.end(), std::uint64_t(0));
    train::batch<double> b;
    data.take(all, b);
    auto net = recipe.model();
    net.initialise(5);
    nn::adam optimizer = recipe.optimizer();
    double norms = 0;
    for (int step = 0; step < 2; ++step) {
      const auto [loss, dy] = nn::cross_entropy(net.forward(b.x), b.labels);
      net.zero_gradients();
      net.backward(dy);
      norms += nn::clip_norm(net.gradients(), 0.02);
      optimizer.step(net);
    }
    for (const double clip : {0.02, 0.}) {
      train::trainer trainer(recipe, {.workers = workers(), .batch = 301, .seed = 5, .clip = clip});
      const train::summary first = trainer.train(), second = trainer.train();
      if (clip > 0) CHECK(first.gradient_norm + second.gradient_norm == doctest::Approx(norms).epsilon(1e-9));
      CHECK(first.gradient_norm > 0.02);
      const train::phases& p = first.phases;
      CHECK(p.passes > 0);
      for (const double seconds : {p.reading, p.exchange, p.update}) CHECK(seconds >= 0);
      CHECK(p.reading + p.passes + p.exchange + p.update <= first.seconds);
      const train::summary none = trainer.validate();
      CHECK(none.gradient_norm == 0);
      CHECK(none.phases.passes == 0);
    }
  });
}

TEST_CASE("a batch with fewer samples than workers is exchanged in the same parts by all") {
  in_world([] {
    const three_clouds recipe;
    const std::vector<double> expected = by_hand(recipe, 7, 30, 2);  // the last batch has one sample
    train::trainer trainer(recipe, {.workers = workers(), .batch = 30, .seed = 7, .bucket_bytes = 200});
    trainer.train();
    trainer.train();
    CHECK(distance(parameters(trainer), expected) < 1e-12);
  });
}

TEST_CASE("batch norm over all workers has the statistics of the whole batch") {
  in_world([] {
    const three_clouds recipe{.normalises = true};
    const std::vector<double> expected = by_hand(recipe, 7, 43, 2);
    train::trainer trainer(recipe, {.workers = workers(), .batch = 43, .seed = 7, .bucket_bytes = 200});
    trainer.train();
    trainer.train();
    CHECK(distance(parameters(trainer), expected) < 1e-9);
  });
}

TEST_CASE("running means of batch norm are means over the workers, each of which has its own statistics") {
  in_world([] {
    const auto after_three_steps = [](int n) {
      train::trainer trainer(one_nan{}, {.workers = n, .batch = 42, .shuffle = false});  // equal shares for 3 and 7
      trainer.train(3);
      const auto net = trainer.model();
      return std::vector<double>(net.buffers().begin(), net.buffers().begin() + 8);  // the means of the 8 features
    };
    CHECK(distance(after_three_steps(workers()), after_three_steps(1)) < 1e-12);
  });
}

TEST_CASE("a step that is not made leaves the running means of batch norm as they were") {
  in_world([] {
    for (const int local : {0, 3}) {
      const train::options o{.workers = workers(), .batch = 30, .shuffle = false, .average_every = local};
      train::trainer trainer(one_nan{}, o);
      CHECK(thrown<manta::error>([&] { trainer.train(); }).find("in step 5, which is batch 5 of epoch 0") !=
            std::string::npos);
      const auto net = trainer.model();
      CHECK(std::all_of(net.buffers().begin(), net.buffers().end(), [](double b) { return std::isfinite(b); }));
      if (local > 0) continue;
      train::trainer until_then(one_nan{}, o);
      until_then.train(5);
      const auto expected = until_then.model();
      CHECK(std::equal(net.buffers().begin(), net.buffers().end(), expected.buffers().begin()));
    }
  });
}

TEST_CASE("summaries are means over all samples, whatever the number of workers") {
  in_world([] {
    train::trainer one(three_clouds{}, {.workers = 1, .batch = 28}),
        all(three_clouds{}, {.workers = workers(), .batch = 28});
    const train::summary a = one.train(), b = all.train(), va = one.validate(), vb = all.validate();
    CHECK(a.loss == doctest::Approx(b.loss));
    CHECK(a["accuracy"] == doctest::Approx(b["accuracy"]));
    CHECK(va.loss == doctest::Approx(vb.loss));
    CHECK(va["accuracy"] == doctest::Approx(vb["accuracy"]));
    CHECK(va.samples == 100);
    CHECK(va["accuracy"] > 0.5);
    CHECK(va["size"] > 0);
    CHECK(thrown<manta::error>([&] { va["precision"]; }).find("it has loss, accuracy, size") != std::string::npos);
  });
}

TEST_CASE("a training that is saved and loaded goes on bit for bit, also in the middle of an epoch") {
  in_world([] {
    const std::string file = "train-test-" + std::to_string(manta::size()) + "/checkpoint";
    train::trainer a(three_clouds{}, {.workers = workers(), .batch = 28, .seed = 3});
    a.train();
    a.train(4);
    a.save(file);
    train::trainer b(three_clouds{}, {.workers = workers(), .batch = 28, .seed = 99}),
        c(three_clouds{}, {.workers = 1, .batch = 28});
    b.load(file);
    c.restore(b.state());
    CHECK(a.train().samples == 301 - 4 * 28);
    CHECK(b.train().samples == 301 - 4 * 28);
    c.train();
    CHECK(parameters(a) == parameters(b));
    CHECK(distance(parameters(a), parameters(c)) < 1e-12);
    a.train(), b.train();
    CHECK(parameters(a) == parameters(b));
    CHECK(train::load_model<nn::network<double>>(file).describe() == a.model().describe());

    const auto misread = thrown<manta::error>([&] { train::load_model<nn::network<float>>(file); });
    CHECK(misread.find("tanh() -> linear(3) -> 3, in double, and cannot be read as manta::nn::network<float>") !=
          std::string::npos);
    train::trainer other(three_clouds{.hidden = 5}, {.workers = 1, .batch = 28});
    const std::vector<double> before = parameters(other);
    CHECK(thrown<manta::error>([&] { other.load(file); }).find("the checkpoint is of the network") !=
          std::string::npos);
    CHECK(parameters(other) == before);
    CHECK(thrown<manta::error>([&] { a.load("no-such-file"); }).find("cannot read the checkpoint no-such-file") !=
          std::string::npos);
    std::ofstream(file, std::ios::in | std::ios::out).seekp(40).write("xxxx", 4);
    CHECK(thrown<manta::error>([&] { a.load(file); }).find("damaged") != std::string::npos);
    CHECK(thrown<manta::error>([&] { a.save("/dev/null/x"); }).find("/dev/null") != std::string::npos);
    std::filesystem::remove_all("train-test-" + std::to_string(manta::size()));
  });
}

TEST_CASE("mistakes in a recipe are one sentence each") {
  in_world([] {
    const auto made = [](const three_clouds& recipe, const train::options& o) {
      return thrown<manta::error>([&] { train::trainer(recipe, o).train(); });
    };
    CHECK(
        made({.samples = 10}, {.batch = 28}) ==
        "manta: train: a batch of 28 samples is larger than the training data, which have 10; choose a smaller batch");
    CHECK(made({.samples = 0}, {.batch = 28}) == "manta: train: the recipe's training_data() has no samples");
    CHECK(made({}, {.workers = 0}).find(".workers is 0") != std::string::npos);
    CHECK(made({}, {.clip = -1}).find(".clip is -1") != std::string::npos);
    CHECK_THROWS_AS(train::trainer(three_clouds{}, {.workers = manta::size() + 1}), manta::unschedulable);
    if (workers() > 1)
      CHECK(made({.differs = true}, {.workers = 2}).find("the workers' recipes make different models") !=
            std::string::npos);
    // All workers stop with the sentence of the one that threw, and can be used again.
    train::trainer wrong(wrong_class{}, {.workers = workers(), .batch = 30});
    for (int i = 0; i < 2; ++i)
      CHECK(thrown<manta::error>([&] { wrong.train(); }).find("has the class 7") != std::string::npos);
    CHECK(wrong.validate().samples == 100);
    const std::string nan = made({.explode_at = 0.5}, {.workers = workers(), .batch = 28});
    CHECK(nan.find("with the rate 1e+308 the optimiser would make parameters or moments that are not finite in step 6, "
                   "which is batch 6 of epoch 0; the step was not made. The samples are finite: try a smaller rate") !=
          std::string::npos);
  });
}

TEST_CASE("a loop of one's own in a gang gets the mean gradient") {
  in_world([] {
    const double alone = manta::async<own_loop>({.ranks = 1}, 5).get();
    for (int n = 1; n <= workers(); ++n)
      CHECK(manta::async<own_loop>({.ranks = n}, 5).get() == doctest::Approx(alone).epsilon(0.05));
  });
}

TEST_CASE("a trial of several workers reports what a trial of one does") {
  in_world([] {
    const auto search = [](auto trials, int ranks) {
      return tune::run<typename decltype(trials)::type>(
          {{"rate", tune::grid({1e-5, 1e-3, 1e-2})}, {"hidden", 4}},
          {.maximise = "accuracy", .scheduler = tune::pbt({.interval = 2, .mutate = {"rate"}}), .ranks = ranks});
    };
    const auto one = search(std::type_identity<train::trial<three_clouds>>(), 0);
    const auto all = search(std::type_identity<train::gang_trial<three_clouds>>(), workers());
    CHECK(all.count(tune::status::complete) == 3);
    CHECK(all.best_value() == doctest::Approx(one.best_value()).epsilon(.1));
    CHECK(all.best().last["train_loss"] > 0);
    CHECK(all.best().iteration == 4);  // the recipe's epochs()

    // The first epoch, before PBT changes anything.
    const tune::space first{{"rate", 1e-3}, {"hidden", 4}};
    const auto a = tune::run<train::trial<three_clouds>>(first, {.minimise = "loss", .stop = {tune::after(1)}});
    const auto b = tune::run<train::gang_trial<three_clouds>>(
        first, {.minimise = "loss", .stop = {tune::after(1)}, .ranks = workers()});
    // A metric of the recipe's own, which is no mean over samples: the norm of what one worker computes.
    CHECK(b.best().last["size"] > 0);
    if (workers() > 1) CHECK(b.best().last["size"] < a.best().last["size"]);  // each has a part of a batch
    for (const char* name : {"loss", "accuracy", "train_loss"})
      CHECK(a.best().last[name] == doctest::Approx(b.best().last[name]).epsilon(1e-9));
  });
}

TEST_CASE("a recipe is a trial of a search") {
  in_world([] {
    const auto results = tune::run<train::trial<three_clouds>>({{"rate", tune::grid({1e-5, 1e-2})}, {"hidden", 4}},
                                                               {.maximise = "accuracy", .folder = ""});
    CHECK(results.size() == 2);
    CHECK(results.best().parameters.get<double>("rate") == 1e-2);
    CHECK(results.best().last["train_loss"] > 0);
    const auto repeated = tune::run<train::trial<three_clouds>>({{"rate", 1e-2}, {"hidden", 4}},
                                                                {.minimise = "loss", .repeats = 3, .folder = ""});
    CHECK(repeated.standard_error_of(repeated.best()) > 0);  // the runs have different seeds
    const auto wrong = thrown<manta::error>([&] {
      const auto none =
          tune::run<train::trial<three_clouds>>({{"speed", tune::grid({1.0})}}, {.maximise = "accuracy", .folder = ""});
      throw manta::error(none.begin()->why);
    });
    CHECK(wrong.find("does not name with CEREAL_NVP; it names rate, samples, hidden") != std::string::npos);
  });
}
