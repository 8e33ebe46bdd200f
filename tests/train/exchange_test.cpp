// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What workers exchange, and when: bfloat16 on the wire, local steps, running means, modules on devices.
#include <doctest/doctest.h>

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "clouds.hpp"
#include "manta/nn/onnx.hpp"
#include "manta/nn/weights.hpp"
#include "manta/train.hpp"
#include "support/world.hpp"

using manta::testing::clouds;
using manta::testing::distance;
using manta::testing::in_world;
using manta::testing::parameters;
using manta::testing::three_clouds;
using manta::testing::thrown;
using manta::testing::workers;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

/// The nearest number with eight significant bits, by arithmetic.
double rounded(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);  // ties to even
}

/// The same in each step, so that what rounding takes off has one sign.
float gradient_of(int member, std::size_t i) {
  return static_cast<float>(nn::random(9, static_cast<std::uint64_t>(member)).normal(i));
}

struct exchanged {
  std::vector<float> last;    ///< the sums of the last step
  std::vector<double> total;  ///< of the sums of all steps
  template <class Archive>
  void serialize(Archive& archive) {
    archive(last, total);
  }
};

manta::per_rank<exchanged> sums_of(manta::team team, int steps, std::size_t size, train::wire format,
                                   train::overlap when) {
  train::exchange exchange(team, 400, format, when);
  exchanged r{std::vector<float>(size), std::vector<double>(size)};
  std::vector<float> mine(size);
  for (std::size_t i = 0; i < size; ++i) mine[i] = gradient_of(team.rank(), i);
  for (int step = 0; step < steps; ++step) {
    r.last = mine;
    exchange.begin(std::span(r.last));
    exchange.ready(size / 2, size);
    exchange.ready(0, size / 2);
    exchange.finish();
    for (std::size_t i = 0; i < size; ++i) r.total[i] += static_cast<double>(r.last[i]);
  }
  return r;
}

/// y = W x on a device, as a module that knows one would do it: arrays of its own there, and copies on the host.
class device_linear {
 public:
  using scalar = double;
  device_linear() : host_(24), host_gradients_(24), device_(24), device_gradients_(24) {
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = nn::random(5).normal(i) / 4;
  }
  const nn::matrix<double>& forward(const nn::matrix<double>& x) {
    device_ = host_;
    x_ = x;
    return y_ = Eigen::Map<const nn::matrix<double>>(device_.data(), 3, 8) * x;
  }
  void backward(const nn::matrix<double>& dy) {
    Eigen::Map<nn::matrix<double>>(device_gradients_.data(), 3, 8) = dy * x_.transpose();
    for (std::size_t i = 0; i < host_.size(); ++i) host_gradients_[i] += device_gradients_[i];
  }
  std::span<double> parameters() { return host_; }
  std::span<const double> parameters() const { return host_; }
  std::span<double> gradients() { return host_gradients_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(host_);
  }

 private:
  std::vector<double> host_, host_gradients_, device_, device_gradients_;
  nn::matrix<double> x_, y_;
};

struct on_device : three_clouds {
  device_linear model() const { return {}; }
  std::map<std::string, double> metrics(const nn::matrix<double>&, const nn::targets<double>&) const {
    return {{"devices", static_cast<double>(manta::this_task::gpu_ids().size())}};
  }
};

/// Batch norm with the statistics of each worker's own share.
struct own_statistics : three_clouds {
  nn::network<double> model() const {
    return nn::network<double>(nn::shape{8}, nn::linear(16), nn::batch_norm(), nn::tanh(), nn::linear(3));
  }
};

/// One sample is not a number, so one worker alone meets it.
struct bad_sample : three_clouds {
  train::samples training_data() const {
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(8, 60);
    x(3, 17) = std::numeric_limits<double>::quiet_NaN();
    return train::samples(std::move(x), std::vector<int>(60, 1));
  }
};

/// Local SGD by hand, one member after the other.
std::vector<double> local_by_hand(const three_clouds& recipe, int members, int every, int batch, int epochs) {
  std::vector<nn::network<double>> nets;
  std::vector<nn::adam> optimizers(static_cast<std::size_t>(members), recipe.optimizer());
  for (int i = 0; i < members; ++i) nets.emplace_back(recipe.model()).initialise(7);
  const auto average = [&](auto&& span_of) {
    for (std::size_t i = 0; i < span_of(0).size(); ++i) {
      double mean = 0;
      for (std::size_t m = 0; m < nets.size(); ++m) mean += span_of(m)[i] / members;
      for (std::size_t m = 0; m < nets.size(); ++m) span_of(m)[i] = mean;
    }
  };
  const auto meet = [&] {
    average([&](std::size_t m) { return nets[m].parameters(); });
    average([&](std::size_t m) { return optimizers[m].moments<double>(); });
  };
  const train::samples data = recipe.training_data();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<std::uint64_t> order = manta::testing::order_of(7, epoch, data.size());
    int steps = 0;
    for (std::size_t at = 0; at < order.size(); at += static_cast<std::size_t>(batch)) {
      const std::size_t size = std::min(order.size() - at, static_cast<std::size_t>(batch));
      for (std::size_t m = 0; m < nets.size(); ++m) {
        const std::size_t from = at + size * m / nets.size(), to = at + size * (m + 1) / nets.size();
        train::batch<double> b;
        data.take(std::span(order).subspan(from, to - from), b);
        nets[m].zero_gradients();
        if (from < to) {
          const auto [loss, dy] = nn::cross_entropy(nets[m].forward(b.x), b.labels);
          nets[m].backward(dy);
        }
        optimizers[m].step(nets[m].parameters(), nets[m].gradients());
      }
      if (++steps % every == 0) meet();
    }
    meet();
  }
  return {nets[0].parameters().begin(), nets[0].parameters().end()};
}

double loop_of_its_own(manta::team team, bool is_rounded) {
  auto net = three_clouds().model();
  net.initialise(1);
  train::data_parallel ddp(team, net, {.exchange = is_rounded ? train::bfloat16 : train::wire::as_is});
  auto optimizer = three_clouds().optimizer();
  std::vector<std::uint64_t> mine;
  for (int i = team.rank(); i < 120; i += team.size()) mine.push_back(static_cast<std::uint64_t>(i));
  train::batch<double> b;
  clouds(1, 120).take(mine, b);
  for (int i = 0; i < 20; ++i) {
    const auto [loss, dy] = nn::cross_entropy(ddp.forward(b.x), b.labels);
    ddp.backward(dy);
    optimizer.step(net.parameters(), net.gradients());
  }
  double sum = 0;
  for (const double p : net.parameters()) sum += p * p;
  return sum;
}

/// What `call` gives while files of this process may not have more than a kilobyte, as on a full disk.
std::string with_small_files(const std::function<std::string()>& call) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1000;
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string text = call();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, former);
  return text;
}

}  // namespace

TEST_CASE("bfloat16 is the nearest one, ties to even, and keeps what is no number") {
  const nn::random numbers(3);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const float x = static_cast<float>(numbers.normal(i) * std::exp2(numbers.normal(i + 5000) * 20));
    const double got = static_cast<double>(train::detail::from_bfloat16(train::detail::to_bfloat16(x)));
    REQUIRE(got == rounded(static_cast<double>(x)));
  }
  for (const float x : {1.F + 1 / 256.F, 1.F + 3 / 256.F, -1.F - 1 / 256.F, 0.F, 1e-30F})
    CHECK(static_cast<double>(train::detail::from_bfloat16(train::detail::to_bfloat16(x))) ==
          rounded(static_cast<double>(x)));
  const float none = std::numeric_limits<float>::quiet_NaN(), much = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(train::detail::from_bfloat16(train::detail::to_bfloat16(none))));
  CHECK(train::detail::from_bfloat16(train::detail::to_bfloat16(-much)) == -much);
}

TEST_CASE("rounded sums are the same on all members and in each run, and lose nothing in the long run") {
  in_world([] {
    constexpr int steps = 300;
    for (const std::size_t size : {std::size_t(1), std::size_t(777)}) {
      for (int n = 1; n <= workers(); ++n) {
        const auto rounded_sums = [&] {
          return manta::async<sums_of>({.ranks = n}, steps, size, train::bfloat16, train::overlap::measured).get();
        };
        const auto all = rounded_sums(), again = rounded_sums();
        for (const exchanged& member : all) {
          CHECK(member.last == all[0].last);
          CHECK(member.last == again[0].last);
        }
        for (std::size_t i = 0; i < size; ++i) {
          double exact = 0;
          for (int m = 0; m < n; ++m) exact += steps * static_cast<double>(gradient_of(m, i));
          // What is left over is at most half a unit of the last sums, whatever the number of steps.
          CHECK(std::abs(all[0].total[i] - exact) < (n + 4) * 4.0 / 256);
          if (n > 1) CHECK(static_cast<double>(all[0].last[i]) == rounded(static_cast<double>(all[0].last[i])));
        }
      }
    }
  });
}

TEST_CASE("the sums are the same bits, whether they are exchanged during the backward pass or after it") {
  in_world([] {
    for (const train::wire format : {train::wire::as_is, train::bfloat16}) {
      const auto sums = [&](train::overlap when) {
        return manta::async<sums_of>({.ranks = workers()}, 60, std::size_t(1777), format, when).get()[0].total;
      };
      const std::vector<double> expected = sums(train::overlap::always);
      CHECK(sums(train::overlap::never) == expected);
      CHECK(sums(train::overlap::measured) == expected);
    }
  });
}

TEST_CASE("an exchange overlaps with the backward pass where that was quicker, and tries again later") {
  train::detail::overlap_choice choice(train::overlap::measured);
  const auto measure = [&](double with, double without) {
    int steps_with = 0, steps = 0;
    for (bool enough = false; !enough; ++steps) {
      REQUIRE(steps < 2000);
      steps_with += choice.overlaps();
      const bool is_disturbed = steps % 7 == 0;
      enough = choice.add(is_disturbed ? 100 : choice.overlaps() ? with : without);
    }
    choice.choose(choice.is_quicker_with());
    return std::pair(steps_with, steps);
  };
  measure(3, 2);
  CHECK(!choice.overlaps());
  const auto [steps_with, steps] = measure(2, 3);
  CHECK(choice.overlaps());
  CHECK(steps == 1024);
  CHECK(steps_with == 15);
  const train::detail::overlap_choice always(train::overlap::always), never(train::overlap::never);
  CHECK(always.overlaps());
  CHECK(!never.overlaps());
}

TEST_CASE("with bfloat16 on the wire a training ends near the exact one, the same bits in each run") {
  in_world([] {
    std::vector<std::vector<double>> runs;
    for (const train::wire format : {train::wire::as_is, train::bfloat16, train::bfloat16}) {
      train::trainer trainer(three_clouds{},
                             {.workers = workers(), .batch = 28, .seed = 7, .bucket_bytes = 200, .exchange = format});
      for (int epoch = 0; epoch < 3; ++epoch) trainer.train();
      CHECK(trainer.validate()["accuracy"] > 0.8);
      runs.push_back(parameters(trainer));
    }
    CHECK(runs[1] == runs[2]);
    CHECK(distance(runs[0], runs[1]) < 0.03);
    if (workers() > 1) CHECK(distance(runs[0], runs[1]) > 0);
    for (int n = 1; n <= workers(); ++n) {
      const double exact = manta::async<loop_of_its_own>({.ranks = n}, false).get();
      CHECK(manta::async<loop_of_its_own>({.ranks = n}, true).get() == doctest::Approx(exact).epsilon(0.01));
    }
  });
}

TEST_CASE("local SGD gives what steps of each worker and means by hand give") {
  in_world([] {
    for (int n = 1; n <= workers(); ++n) {
      for (const int every : {1, 3, 100}) {
        const three_clouds recipe;
        train::trainer trainer(recipe, {.workers = n, .batch = 28, .seed = 7, .average_every = every});
        CHECK(trainer.train().samples == 301);
        CHECK(trainer.train().step == 22);
        CHECK(distance(parameters(trainer), local_by_hand(recipe, n, every, 28, 2)) < 1e-12);
      }
    }
    const auto refused =
        thrown<manta::error>([] { train::trainer(three_clouds{}, {.exchange = train::bfloat16, .average_every = 2}); });
    CHECK(refused.find(".average_every exchanges no gradients") != std::string::npos);
  });
}

TEST_CASE("a loss that is no number stops all workers with batch, step and what was last") {
  in_world([] {
    for (const int every : {0, 2, 100}) {
      train::trainer trainer(bad_sample{},
                             {.workers = workers(), .batch = 6, .shuffle = false, .average_every = every});
      const std::string text = thrown<manta::error>([&] { trainer.train(); });
      CHECK(text.find("the loss became NaN in step 2, which is batch 2 of epoch 0 (before it was ") !=
            std::string::npos);
      CHECK(text.find("(before it was 0.000000)") == std::string::npos);
      const auto net = trainer.model();
      for (const double p : net.parameters()) REQUIRE(std::isfinite(p));
      CHECK(trainer.validate().samples == 100);
      train::trainer at_once(bad_sample{}, {.workers = workers(), .batch = 60, .average_every = every});
      CHECK(thrown<manta::error>([&] { at_once.train(); }).find("batch 0 of epoch 0; the step was not made") !=
            std::string::npos);
    }
  });
}

TEST_CASE("a full disk leaves the files that were there, is one sentence, and the training goes on") {
  in_world([] {
    const std::string folder = "train-full-disk-" + std::to_string(manta::size()), file = folder + "/checkpoint";
    train::trainer trainer(three_clouds{}, {.workers = workers(), .batch = 28});
    trainer.save(file);
    const std::vector<double> saved = parameters(trainer);
    trainer.train();
    const auto net = trainer.model();
    const std::vector<std::pair<std::string, std::function<void()>>> writers{
        {file, [&] { trainer.save(file); }},
        {file, [&] { trainer.fit({.epochs = 2, .checkpoint = file, .fresh = true, .progress = false}); }},
        {folder + "/log", [&] { trainer.fit({.epochs = 9, .log = folder + "/log", .progress = false}); }},
        {folder + "/w.npz", [&] { nn::save_weights(folder + "/w.npz", net); }},
        {folder + "/w.safetensors", [&] { nn::save_weights(folder + "/w.safetensors", net); }},
        {folder + "/w.onnx", [&] { nn::save_onnx(folder + "/w.onnx", net); }}};
    for (const auto& [path, write] : writers) {
      CAPTURE(path);
      const std::string text = with_small_files([&, to = &write] { return thrown<manta::error>(*to); });
      CHECK(text.find(path) != std::string::npos);
      CHECK(text.find("File too large") != std::string::npos);
      CHECK(text.find('\n') == std::string::npos);
    }
    std::filesystem::remove_all(folder + "/log");
    CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);  // no parts of files are left
    CHECK(std::isfinite(trainer.train().loss));
    trainer.load(file);
    CHECK(parameters(trainer) == saved);
    std::filesystem::remove_all(folder);
  });
}

TEST_CASE("workers have one running mean of batch norm when a call of train has ended") {
  in_world([] {
    train::trainer trainer(own_statistics{}, {.workers = workers(), .batch = 28, .seed = 2});
    trainer.train();
    const train::summary got = trainer.validate();
    auto net = trainer.model();
    std::vector<std::uint64_t> all(100);
    std::iota(all.begin(), all.end(), std::uint64_t(0));
    train::batch<double> b;
    own_statistics().validation_data().take(all, b);
    net.mode({.training = false});
    CHECK(got.loss == doctest::Approx(nn::cross_entropy(net.forward(b.x), b.labels).value).epsilon(1e-12));
  });
}

TEST_CASE("a module on a device trains as one in memory, with a device for each worker") {
  in_world({.gpus = 2}, [] {
    train::trainer trainer(on_device{}, {.workers = workers(), .batch = 28, .seed = 7, .gpus = 1});
    CHECK(trainer.train()["devices"] == 1);
    CHECK(trainer.train()["accuracy"] > 0.8);
    train::trainer one(on_device{}, {.workers = 1, .batch = 28, .seed = 7, .gpus = 2});
    one.train();
    CHECK(one.train()["devices"] == 2);
    const auto a = trainer.model(), b = one.model();
    CHECK(distance({a.parameters().begin(), a.parameters().end()}, {b.parameters().begin(), b.parameters().end()}) <
          1e-12);
    CHECK_THROWS_AS(train::trainer(on_device{}, {.gpus = 3}), manta::unschedulable);
  });
}
