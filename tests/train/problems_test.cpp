// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What goes wrong on one worker: an error at each place of a step, data that differ, numbers that are not finite. The
// others must not wait for it, and the training goes on as if nothing had been.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::clouds;
using manta::testing::contains;
using manta::testing::distance;
using manta::testing::in_world;
using manta::testing::three_clouds;
using manta::testing::thrown;
using manta::testing::workers;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

/// A recipe with some of its members set.
template <class Recipe, class Set>
Recipe with(Set&& set) {
  Recipe r;
  set(r);
  return r;
}

/// What this process is to do wrong: throw at this place, when it comes there for the `countdown`-th time.
struct fault {
  std::string place;
  int countdown = 0;

  void meet(const std::string& here) {
    if (here == place && --countdown == 0) throw std::runtime_error("trouble in " + here);
  }
};
fault fault_here;

/// y = x, as a layer of the program's own, which may throw.
struct faulty_layer {
  using scalar = double;
  faulty_layer(int, int) {}
  const nn::matrix<double>& forward(const nn::matrix<double>& x) {
    fault_here.meet("forward");
    return x_ = x;
  }
  void backward(const nn::matrix<double>&) {}
  const nn::matrix<double>& backward_to_input(const nn::matrix<double>& dy) {
    fault_here.meet("backward");
    return dx_ = dy;
  }
  std::span<double> parameters() { return {}; }
  std::span<const double> parameters() const { return {}; }
  std::span<double> gradients() { return {}; }
  template <class Archive>
  void serialize(Archive&) {}

 private:
  nn::matrix<double> x_, dx_;
};

struct faulty_data {
  train::samples all;
  [[nodiscard]] std::size_t size() const { return all.size(); }
  void take(std::span<const std::uint64_t> which, train::batch<double>& to) const {
    fault_here.meet("take");
    all.take(which, to);
  }
};

struct faulty_adam : nn::adam {
  faulty_adam() : nn::adam({.rate = 1e-2}) {}
  void step(std::span<double> p, std::span<const double> g) {
    fault_here.meet("optimizer");
    nn::adam::step(p, g);
  }
};

struct faulty : manta::testing::three_clouds {
  std::string place = {};
  int victim = -1;  ///< the rank on which it happens
  int at = 3;       ///< how often the victim comes to the place until it does
  bool all_workers = false;

  nn::network<double> model() const {
    // Before the first step the first and the last sample of both data are taken.
    fault_here = {manta::rank() == victim ? place : "", place == "take" ? at + 4 : at};
    if (place == "model") fault_here.countdown = 1, fault_here.meet("model");
    const nn::spec norm = nn::batch_norm({.all_workers = all_workers});
    return nn::network<double>(nn::shape{8}, nn::linear(6), norm, nn::own<faulty_layer>(6), nn::tanh(), norm,
                               nn::linear(3));
  }
  faulty_adam optimizer() const { return {}; }
  nn::loss loss() const { return nn::cross_entropy(); }
  faulty_data training_data() const {
    if (place == "data") fault_here.countdown = 1, fault_here.meet("data");
    return {clouds(1, 150)};
  }
  faulty_data validation_data() const { return {clouds(2, 40)}; }
  std::map<std::string, double> metrics(const nn::matrix<double>&, const nn::targets<double>&) const {
    fault_here.meet("metrics");
    return {};
  }
  void augment(std::span<double>, train::draws&) const { fault_here.meet("augment"); }
  double learning_rate(double) const {
    fault_here.meet("rate");
    return rate;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate), CEREAL_NVP(place), CEREAL_NVP(victim), CEREAL_NVP(at), CEREAL_NVP(all_workers));
  }
};

template <class Trainer>
std::vector<double> parameters(const Trainer& t) {
  const auto net = t.model();
  return {net.parameters().begin(), net.parameters().end()};
}

}  // namespace

TEST_CASE(
    "an error of one worker at any place of a step is thrown on all, and the training goes on as if it had not been") {
  in_world([] {
    const int n = workers(), last = manta::size() - 1;
    for (const bool all_workers : {false, true}) {
      for (const int kind : {0, 1, 2}) {
        const train::options o{.workers = n,
                               .batch = 28,
                               .seed = 5,
                               .accumulate = kind == 1 ? 2 : 1,
                               .bucket_bytes = 200,
                               .average_every = kind == 2 ? 3 : 0};
        if (all_workers && kind == 2) continue;  // refused
        train::trainer undisturbed(with<faulty>([&](auto& r) { r.all_workers = all_workers; }), o);
        undisturbed.train(), undisturbed.train();
        for (const std::string place : {"take", "augment", "forward", "metrics", "backward", "rate", "optimizer"}) {
          CAPTURE(place);
          CAPTURE(all_workers);
          CAPTURE(kind);
          const auto recipe =
              with<faulty>([&](auto& r) { r.place = place, r.victim = last, r.all_workers = all_workers; });
          train::trainer trainer(recipe, o);
          const std::string text = thrown<manta::error>([&] { trainer.train(), trainer.train(), trainer.validate(); });
          CHECK(text == "trouble in " + place);
          while (trainer.state().epoch < 2) trainer.train();
          CHECK(trainer.state().step == 12);
          if (kind < 2) CHECK(distance(parameters(trainer), parameters(undisturbed)) < 1e-12);
          CHECK(std::isfinite(trainer.validate().loss));
        }
      }
    }
    // In the last step of an epoch, after which the workers part.
    train::trainer late(with<faulty>([&](auto& r) { r.place = "optimizer", r.victim = last, r.at = 6; }),
                        {.workers = n, .batch = 28});
    CHECK(thrown<manta::error>([&] { late.train(); }) == "trouble in optimizer");
    late.train();
    CHECK(late.state().step == 6);
    CHECK(late.state().epoch == 1);
    for (const std::string place : {"model", "data"}) {
      CHECK(thrown<manta::error>([&] {
              train::trainer(with<faulty>([&](auto& r) { r.place = place, r.victim = last; }), {.workers = n});
            }) == "trouble in " + place);
    }
  });
}

namespace {

/// Data that are others on the last rank.
struct uneven : manta::testing::three_clouds {
  std::string what = {};
  [[nodiscard]] bool differs_here(const std::string& in) const {
    return what == in && manta::rank() == manta::size() - 1;
  }

  train::samples training_data() const {
    if (what == "order") return differs_here("order") ? clouds(1, 60).part(1, 2) : clouds(1, 60).part(0, 2);
    return clouds(1, differs_here("training") ? samples + 1 : samples);
  }
  train::samples validation_data() const { return clouds(2, differs_here("validation") ? 140 : 100); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(samples), CEREAL_NVP(what));
  }
};

/// Data of any size without memory. What differs lies after a million samples, or in the numbers of each call.
struct endless {
  std::uint64_t count = 0;
  bool is_random = false, ends_otherwise = false;
  [[nodiscard]] std::size_t size() const { return count; }
  void take(std::span<const std::uint64_t> which, train::batch<double>& to) const {
    static int calls = 0;
    to.x.setConstant(8, static_cast<Eigen::Index>(which.size()), is_random ? ++calls + 0.1 * manta::rank() : 0.5);
    if (ends_otherwise && which.back() == count - 1) to.x(0, to.x.cols() - 1) = 3;
    to.labels.assign(which.size(), 1);
  }
};
struct endless_recipe : manta::testing::three_clouds {
  std::uint64_t count = 0;
  bool is_larger_there = false, is_random = false, ends_otherwise = false;
  endless training_data() const {
    const bool there = manta::rank() == manta::size() - 1;
    return {count + (is_larger_there && there ? 1 : 0), is_random, ends_otherwise && there};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(count), CEREAL_NVP(is_larger_there), CEREAL_NVP(is_random), CEREAL_NVP(ends_otherwise));
  }
};

}  // namespace

TEST_CASE("workers whose data differ are told apart before the first step, by one sample of a hundred million too") {
  in_world([] {
    const auto made = [](const auto& recipe) {
      return thrown<manta::error>([&] { train::trainer(recipe, {.workers = workers(), .batch = 28}).train(1); });
    };
    if (workers() == 1) return;
    const std::string last = std::to_string(manta::size() - 1);
    CHECK(made(with<uneven>([](auto& r) { r.what = "training"; })) ==
          "manta: train: the workers' training data differ in size: rank 1 has 301 samples, and rank " + last +
              " 302. Each worker reads all of them, and trains with a share of each batch");
    CHECK(made(with<uneven>([](auto& r) { r.what = "validation"; })) ==
          "manta: train: the workers' validation data differ in size: rank 1 has 100 samples, and rank " + last +
              " 140. Each worker reads all of them, and validates a share of them");
    CHECK(contains(made(with<uneven>([](auto& r) { r.what = "order"; })),
                   "the workers' training data differ: the first sample on rank " + last +
                       " is not that on rank 1. Each worker reads all of them, in one order"));
    CHECK(contains(made(with<endless_recipe>([](auto& r) { r.count = 100'000'000, r.is_larger_there = true; })),
                   "rank 1 has 100000000 samples, and rank " + last + " 100000001"));
    CHECK(contains(made(with<endless_recipe>([](auto& r) { r.count = 1000, r.ends_otherwise = true; })),
                   "the last sample on rank " + last));
    // Data that are random by themselves cannot be compared, and need not be.
    CHECK(made(with<endless_recipe>([](auto& r) { r.count = 1000, r.is_random = true; })) == "");
  });
}

namespace {

/// Pictures, of which one may have a hole; a loss that has a gradient without a number for one sample.
struct damaged_loss : nn::loss {
  damaged_loss() : nn::loss(nn::cross_entropy()) {}
  template <class T>
  T over(const nn::matrix<T>& y, const nn::targets<T>& t, nn::matrix<T>& dy, double divisor) const {
    const T value = nn::loss::over(y, t, dy, divisor);
    for (Eigen::Index i = 0; i < y.cols(); ++i) {
      if (t.labels()[static_cast<std::size_t>(i)] == 2) dy(0, i) = std::numeric_limits<T>::infinity();
    }
    return value;
  }
};
struct pictures {
  std::string damage = {};
  double rate = .05;
  [[nodiscard]] bool has(const char* which) const { return damage == which; }

  nn::network<float> model() const {
    return nn::network<float>(nn::shape{1, 4, 4}, nn::conv2d(4, 1), nn::relu(), nn::max_pool(2),
                              nn::batch_norm({.all_workers = true}), nn::linear(3));
  }
  nn::sgd optimizer() const { return nn::sgd({.rate = rate}); }
  nn::loss loss() const { return has("weights") ? nn::cross_entropy({.weights = {0, 0, 1}}) : nn::cross_entropy(); }
  train::samples training_data() const {
    Eigen::MatrixXf x = Eigen::MatrixXf::NullaryExpr(
        16, 96, [](Eigen::Index i, Eigen::Index k) { return std::sin(static_cast<float>(16 * k + i)); });
    std::vector<int> y(96);
    for (std::size_t i = 0; i < 96; ++i) y[i] = static_cast<int>(i % 2);
    if (has("hole")) x(5, 50) = std::numeric_limits<float>::quiet_NaN();
    if (has("huge")) x(5, 50) = 3e38F;
    if (has("class")) y[50] = 7;
    if (has("gradient")) y[50] = 2;
    return train::samples(std::move(x), std::move(y));
  }
  train::samples validation_data() const { return training_data().part(0, 2); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(damage), CEREAL_NVP(rate));
  }
};
struct pictures_of_damaged_loss : pictures {
  damaged_loss loss() const { return {}; }
};

}  // namespace

TEST_CASE("numbers that are not finite stop the step before it is made, and the error names their sample or array") {
  in_world([] {
    const auto stopped = [](const auto& recipe, int local) {
      const train::options o{.workers = workers(), .batch = 16, .seed = 1, .shuffle = false, .average_every = local};
      train::trainer trainer(recipe, o);
      const std::string text = thrown<manta::error>([&] { trainer.train(); });
      train::trainer until_then(pictures{.rate = recipe.rate}, o);
      until_then.train(3);
      const auto net = trainer.model(), expected = until_then.model();
      CHECK(std::ranges::equal(net.parameters(), expected.parameters()));
      CHECK(std::ranges::equal(net.buffers(), expected.buffers()));
      CHECK(trainer.state().step == 3);
      return text;
    };
    const std::string place = " in step 3, which is batch 3 of epoch 0", unmade = "; the step was not made. ";
    std::string text = stopped(pictures{.damage = "hole"}, 0);
    CHECK(contains(text, "the loss became NaN" + place + " (before it was "));
    CHECK(contains(text, unmade + "Look at the data: number 5 of sample 50 of the training data is NaN"));
    text = stopped(pictures{.damage = "huge"}, 0);
    INFO(text);
    CHECK(contains(text, "a running mean of batch norm became infinite" + place));
    text = stopped(pictures{.damage = "class"}, 0);
    CHECK(contains(text, "cross_entropy: sample 50 of the training data has the class 7; the network's 3 outputs"));
    text = stopped(with<pictures_of_damaged_loss>([](auto& r) { r.damage = "gradient"; }), 0);
    CHECK(contains(text, "but its gradient by 0.weight became NaN" + place + unmade + "The samples are finite"));
    CHECK(contains(thrown<manta::error>([&] {
                     train::trainer(pictures{.damage = "weights"}, {.workers = workers(), .batch = 16}).train();
                   }),
                   "the loss gives the samples of step 0, which is batch 0 of epoch 0 the weight 0 together"));
    CHECK(contains(thrown<manta::error>(
                       [&] { train::trainer(pictures{.rate = 1e38}, {.workers = workers(), .batch = 16}).train(); }),
                   "; the step was not made. "));
    // A step that is large, but not too large, is made.
    train::trainer large(pictures{.rate = 1e16}, {.workers = workers(), .batch = 16, .shuffle = false});
    large.train(1);
    CHECK(large.state().step == 1);
  });
}

TEST_CASE("batch norm over all workers is that of the whole batch, with any rest of an epoch and any number of parts") {
  in_world([] {
    for (const int samples : {281, 282, 283}) {  // the last batch has 1 to 3 samples
      const three_clouds recipe{.samples = samples, .normalises = true};
      train::trainer one(recipe, {.workers = 1, .batch = 28, .seed = 7});
      one.train(), one.train();
      for (int n = 1; n <= workers(); ++n) {
        train::trainer parts(recipe, {.workers = n, .batch = 28, .seed = 7, .accumulate = 4});
        parts.train(), parts.train();
        CHECK(parts.state().step == 22);
        CHECK(distance(parameters(parts), parameters(one)) < 1e-9);
        const auto a = parts.model(), b = one.model();
        for (std::size_t i = 0; i < a.buffers().size(); ++i)
          CHECK(a.buffers()[i] == doctest::Approx(b.buffers()[i]).epsilon(1e-9));
      }
    }
    // Statistics of shares: a share of one sample ends no epoch, but what no epoch can do is said in its first step.
    train::trainer rest(with<faulty>([](auto&) {}), {.workers = workers(), .batch = 149});
    rest.train();
    CHECK(rest.state().step == 2);
    const auto text = thrown<manta::error>(
        [&] { train::trainer(with<faulty>([](auto&) {}), {.workers = workers(), .batch = workers()}).train(); });
    CHECK(contains(text, "no variance of a single number: a worker's share of a batch needs two samples"));
    CHECK(contains(thrown<manta::error>([&] {
                     train::trainer(three_clouds{.normalises = true}, {.workers = workers(), .average_every = 2});
                   }),
                   ".average_every makes steps without the other workers, so a layer like batch_norm"));
  });
}

namespace {

/// 20 MB of samples. Each reading of them is a line in a file.
struct large_data {
  std::string log = {};
  bool by_rank = false;
  int count = 6000;

  nn::network<float> model() const { return nn::network<float>(nn::shape{1000}, nn::linear(2)); }
  nn::sgd optimizer() const { return nn::sgd({.rate = 1e-3}); }
  nn::loss loss() const { return nn::mse(); }
  [[nodiscard]] train::samples data(int size, const char* name) const {
    std::ofstream(log, std::ios::app) << name << '\n';
    if (by_rank) (void)manta::rank();
    const Eigen::MatrixXf x = Eigen::MatrixXf::NullaryExpr(
        1000, size, [](Eigen::Index i, Eigen::Index k) { return static_cast<float>((i * 7 + k * 13) % 31) / 31; });
    return train::samples(x, Eigen::MatrixXf(x.topRows(2)));
  }
  train::samples training_data() const { return data(count, "training"); }
  train::samples validation_data() const { return data(100, "validation"); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(log), CEREAL_NVP(by_rank), CEREAL_NVP(count));
  }
};

int lines_of(const std::string& file) {
  const std::string text = manta::testing::text_of(file);
  return static_cast<int>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_CASE("samples are read once for all workers, which look at them in the memory of their node") {
  in_world([] {
    const manta::testing::folder place;
    const int n = workers();
    const auto run = [&](const large_data& recipe, int count) {
      train::trainer trainer(recipe, {.workers = count, .batch = 600, .seed = 3});
      trainer.train();
      const double loss = trainer.validate().loss;
      if (count > 1) {  // another trainer wants the ranks: this one comes back without reading anything again
        train::trainer other(three_clouds{}, {.workers = count, .batch = 28});
        other.train(1);
        CHECK(trainer.validate().loss == loss);
      }
      return loss;
    };
    const double one = run({.log = place.path + "/one"}, 1);
    CHECK(lines_of(place.path + "/one") == 2);
    CHECK(run({.log = place.path + "/all"}, n) == doctest::Approx(one).epsilon(1e-5));
    CHECK(lines_of(place.path + "/all") == 2);
    // What may depend on the rank, each worker reads for itself, and so it does with what is small.
    CHECK(run({.log = place.path + "/rank", .by_rank = true}, n) == doctest::Approx(one).epsilon(1e-5));
    CHECK(lines_of(place.path + "/rank") >= 2 * n);
    run({.log = place.path + "/small", .count = 600}, n);
    CHECK(lines_of(place.path + "/small") >= 2 * n);
  });
}
