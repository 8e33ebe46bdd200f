// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Parameter servers: the oracle is an optimiser by hand, and a board on which workers write what they have made.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "clouds.hpp"
#include "manta/train.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace train = manta::train;

namespace {

using server_of_adam = train::parameter_server<nn::adam, double>;

std::vector<double> gradient_at(std::span<const double> parameters) {
  std::vector<double> g;
  for (std::size_t i = 0; i < parameters.size(); ++i) g.push_back(parameters[i] - static_cast<double>(i) / 10);
  return g;
}

std::vector<double> descend(const server_of_adam& server, int number, int steps) {
  auto worker = server.join(number);
  std::vector<double> parameters(7);
  for (int i = 0; i < steps; ++i) {
    worker.pull(parameters);
    worker.push(gradient_at(parameters));
  }
  worker.pull(parameters);
  return parameters;
}

/// The steps that workers have made, each written before the worker tells the server.
class board {
 public:
  /// Ready when `n` workers have come.
  manta::future<void> meet(int worker, std::size_t n) {
    made_[worker] = 0;
    auto f = waiting_.emplace_back().get_future();
    if (waiting_.size() == n) {
      for (auto& w : waiting_) w.set_value();
      waiting_.clear();
    }
    return f;
  }
  int slowest() const {
    int least = 1 << 30;
    for (const auto& [worker, steps] : made_) least = std::min(least, steps);
    return least;
  }
  void made(int worker) { ++made_[worker]; }

 private:
  std::map<int, int> made_;
  std::vector<manta::promise<void>> waiting_;
};

/// The steps by which this worker was ahead of the slowest at most.
int race(const server_of_adam& server, const manta::actor<board>& b, int number, int workers, int steps) {
  auto worker = server.join(number);
  manta::async<&board::meet>(b, number, static_cast<std::size_t>(workers)).get().get();
  std::vector<double> parameters(7);
  int most = 0;
  for (int i = 0; i < steps; ++i) {
    worker.pull(parameters);
    most = std::max(most, i - manta::async<&board::slowest>(b).get());
    for (int k = 0; k < 20 * number; ++k) manta::async<&board::slowest>(b).get();  // some are slower
    manta::async<&board::made>(b, number).get();
    worker.push(gradient_at(parameters));
  }
  server.pull(parameters);  // after this worker's pushes, for which nobody waits
  return most;
}

void gives_up(const server_of_adam& server, const manta::actor<board>& b, int workers) {
  const auto worker = server.join(99);
  manta::async<&board::meet>(b, 99, static_cast<std::size_t>(workers)).get().get();
  throw std::runtime_error("no more");
}

/// An optimiser of a program's own, which only decays.
struct decay {
  template <class T>
  void step(std::span<T> parameters, std::span<const T>) const {
    for (T& p : parameters) p /= 2;
  }
  void rate(double) {}
  template <class Archive>
  void serialize(Archive&) {}
};

}  // namespace

TEST_CASE("one worker makes the steps of the optimiser, however many shards there are") {
  in_world([] {
    std::vector<double> expected(7, 1.0);
    nn::adam by_hand({.rate = 0.05});
    for (int i = 0; i < 40; ++i) by_hand.step(expected, gradient_at(expected));
    for (const int shards : {1, 2, 7, 9}) {
      for (const int staleness : {0, train::any_staleness}) {
        std::vector<double> start(7, 1.0), got(7);
        const server_of_adam server(start, nn::adam({.rate = 0.05}), {.shards = shards, .staleness = staleness});
        CHECK(manta::async<descend>(server, 0, 40).get() == expected);
        server.pull(got);
        CHECK(got == expected);
        CHECK(server.steps() == 40);
      }
    }
  });
}

TEST_CASE("no worker gets further ahead of the slowest than the bound") {
  in_world([] {
    constexpr int workers = 3;
    for (const int staleness : {0, 1, 4}) {
      const server_of_adam server(std::vector<double>(7), nn::adam(), {.shards = 2, .staleness = staleness});
      const auto b = manta::spawn<board>();
      std::vector<manta::future<int>> races;
      for (int i = 0; i < workers; ++i) races.push_back(manta::async<race>(server, b, i, workers, 25));
      for (const int ahead : manta::get(races)) CHECK(ahead <= staleness);
      CHECK(server.steps() == workers * 25);
    }
  });
}

TEST_CASE("a worker that fails leaves, and the others go on") {
  in_world([] {
    const server_of_adam server(std::vector<double>(7), nn::adam(), {.staleness = 0});
    const auto b = manta::spawn<board>();
    auto fails = manta::async<gives_up>(server, b, 3);
    auto one = manta::async<race>(server, b, 1, 3, 10), two = manta::async<race>(server, b, 2, 3, 10);
    CHECK_THROWS_AS(fails.get(), manta::task_failed);
    one.wait(), two.wait();
    CHECK_NOTHROW(one.get());
    CHECK_NOTHROW(two.get());
  });
}

TEST_CASE("what a network has frozen stays as it is, however many shards there are, and the rest makes its steps") {
  in_world([] {
    nn::network<double> net(nn::shape{3}, nn::linear(4), nn::tanh(), nn::linear(2));
    net.initialise(1);
    net.freeze("0.bias");
    net.freeze("2.weight");
    const std::vector<double> start(net.parameters().begin(), net.parameters().end());
    const nn::matrix<double> x = nn::matrix<double>::Random(3, 5);
    const auto check_steps = [&](auto optimizer, int shards, auto parameters) {
      nn::network<double> alone = net, pulled = net;
      const train::parameter_server server(parameters, optimizer, {.shards = shards});
      for (int i = 0; i < 5; ++i) {
        for (nn::network<double>* of : {&alone, &pulled}) {
          of->forward(x), of->zero_gradients();
          of->backward(nn::matrix<double>::Ones(2, 5));
        }
        optimizer.step(alone);
        server.push(pulled.gradients());
        server.pull(pulled.parameters());
        CHECK(std::ranges::equal(alone.parameters(), pulled.parameters()));
      }
      CHECK_FALSE(std::ranges::equal(pulled.parameters(), start));
      CHECK(std::equal(start.begin() + 12, start.begin() + 24, pulled.parameters().begin() + 12));
    };
    for (const int shards : {1, 2, 5, 30}) {
      check_steps(nn::adamw({.rate = 0.01, .weight_decay = 0.1}), shards, net.parameters());
      check_steps(nn::sgd({.rate = 0.01, .momentum = 0.9, .weight_decay = 0.1}), shards,
                  std::as_const(net).parameters());
      const train::parameter_server<decay, double> own(net.parameters(), decay(), {.shards = shards});
      std::vector<double> after(start.size());
      own.push(after);
      own.pull(after);
      for (std::size_t i = 0; i < start.size(); ++i) CHECK(after[i] == (i < 12 || i >= 24 ? start[i] / 2 : start[i]));
    }
  });
}

TEST_CASE("what a shard could not take is refused where it is asked for") {
  in_world([] {
    const std::vector<double> p(3, 1.0);
    const auto made = [&](const nn::optimizer& o) {
      return thrown<manta::error>([&] { train::parameter_server<nn::optimizer, double>(p, o); });
    };
    CHECK(made(nn::lbfgs()).find("does not work with lbfgs") != std::string::npos);
    CHECK(made(nn::adam({.groups = {{.arrays = "0.*"}}})).find("knows parameters without names") != std::string::npos);
    CHECK(made({}).find("this optimizer is empty") != std::string::npos);
    const server_of_adam server(p, nn::adam(), {.shards = 2});
    CHECK(thrown<manta::error>([&] {
            server.push(std::vector<double>{0, 1, std::nan("")});
          }) ==
          "manta: train: gradient 2 of 3 that were pushed is NaN or infinite; the parameter server did not take them. "
          "Try a smaller rate, or look at the data");
    CHECK(thrown<manta::error>([&] { server.rate(-1); }).find("the rate is -1") != std::string::npos);
    CHECK(server.steps() == 0);
    CHECK(thrown<manta::error>([] { (void)server_of_adam().steps(); }).find("is empty") != std::string::npos);
    CHECK(thrown<manta::error>([] { server_of_adam().rate(1); }).find("is empty") != std::string::npos);
  });
}

TEST_CASE("the rate can be set, and mistakes are one sentence each") {
  in_world([] {
    std::vector<double> p(2, 1.0);
    const train::parameter_server<nn::sgd, double> server(p, nn::sgd({.rate = 0.5}), {.shards = 2});
    server.rate(0.25);
    server.push(std::vector<double>{1, 2});
    server.pull(p);
    CHECK(p == std::vector<double>{0.75, 0.5});
    std::vector<double> other(3);
    CHECK(thrown<manta::error>([&] { server.pull(other); }) ==
          "manta: train: the parameter server has 2 parameters, and 3 numbers were given");
    CHECK(thrown<manta::error>([&] { server.push(other); }).find("3 numbers") != std::string::npos);
    const auto made = [&](const train::parameter_server_options& o) {
      return thrown<manta::error>([&] { server_of_adam(p, nn::adam(), o); });
    };
    CHECK(made({.shards = 0}).find(".shards is 0") != std::string::npos);
    CHECK(made({.staleness = -1}).find(".staleness is -1") != std::string::npos);
  });
}
