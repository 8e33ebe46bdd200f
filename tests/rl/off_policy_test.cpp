// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// SAC and TD3: what they learn, that the number of workers changes nothing, that they go on where they were, and the
// mathematics below them.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "manta/rl.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace rl = manta::rl;

namespace {

/// The reward is the nearness of the action to a number that is seen; a second number wants to be its opposite.
struct target {
  double wanted = 0;
  static rl::box observation_space() { return {{-1.f}, {1.f}}; }
  static rl::box action_space() { return {{-2.f, -1.f}, {2.f, 3.f}}; }
  double reset(rl::random& random) { return wanted = random.uniform(-1, 1); }
  rl::step<double> step(const std::vector<float>& a) {
    return {wanted, -std::abs(double(a[0]) - wanted) - std::abs(double(a[1]) + wanted), true, false};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(wanted);
  }
};

struct unbounded {
  static rl::box observation_space() { return {{-1.f}, {1.f}}; }
  static rl::box action_space() { return {{0.f}, {std::numeric_limits<float>::infinity()}}; }
  float reset(rl::random&) { return 0; }
  rl::step<float> step(float) { return {0.f, 0, true, false}; }
};

template <class Algorithm>
void learns_and_goes_on(const std::string& name) {
  const std::string file = name + "-test-" + std::to_string(manta::size());
  typename Algorithm::options options;
  options.seed = 3;
  options.learning_starts = 200;
  options.batch = 64;
  options.model.hidden = {32, 32};
  options.replay_rank = manta::size() - 1;
  std::vector<double> returns;
  for (const int workers : {1, 3}) {
    options.workers = workers;
    Algorithm algorithm(rl::environment<target>(), options);
    for (int i = 0; i < (workers == 1 ? 30 : 5); ++i) {
      const rl::report r = algorithm.train();
      if (workers == 1) returns.push_back(r.mean_return);
      CHECK(r.mean_return == returns[static_cast<std::size_t>(i)]);
    }
    if (workers == 1) {
      CHECK(algorithm.evaluate(50).mean_return > -0.3);
      const Eigen::VectorXf a = algorithm.act(0.5);
      CHECK(a[0] == doctest::Approx(0.5).epsilon(0.4));
      CHECK(a[1] == doctest::Approx(-0.5).epsilon(0.4));
      continue;
    }
    algorithm.save(file);
    typename Algorithm::options other = options;
    other.workers = 2;
    other.seed = 9;
    Algorithm again(rl::environment<target>(), other);
    again.load(file);
    for (int i = 0; i < 3; ++i) {
      const rl::report a = algorithm.train(), b = again.train();
      CHECK(a.learner == b.learner);
      CHECK(a.mean_return == b.mean_return);
    }
    other.model.hidden = {8};
    CHECK(contains(thrown<manta::error>([&] { Algorithm(rl::environment<target>(), other).load(file); }),
                   "this algorithm's are 1 -> linear(8"));
  }
  std::filesystem::remove(file);
  CHECK(contains(thrown<manta::error>([] { Algorithm("CartPole-v1"); }),
                 name + " needs actions that are numbers between bounds; those of CartPole-v1 are discrete{2}: use "
                        "rl::dqn or rl::ppo"));
  CHECK(contains(thrown<manta::error>([] { Algorithm{rl::environment<unbounded>()}; }), "finite bounds"));
  options.steps_per_update = 0;
  CHECK(
      contains(thrown<manta::error>([&] { Algorithm(rl::environment<target>(), options); }), ".steps_per_update is 0"));
  options.steps_per_update = 1;
  options.rate = 1e30;
  CHECK(contains(thrown<manta::error>([&] {
                   Algorithm a(rl::environment<target>(), options);
                   for (int i = 0; i < 8; ++i) a.train();
                 }),
                 "finite"));
}

}  // namespace

TEST_CASE("sac learns actions of a box, is the same for any number of workers, and goes on bit for bit") {
  in_world([] { learns_and_goes_on<rl::sac>("sac"); });
}

TEST_CASE("td3 learns actions of a box, is the same for any number of workers, and goes on bit for bit") {
  in_world([] { learns_and_goes_on<rl::td3>("td3"); });
}

TEST_CASE("equal trainings have equal checkpoints, byte for byte") {
  in_world([] {
    const auto bytes = [] {
      rl::sac a(rl::environment<target>(), {.seed = 3, .learning_starts = 100, .model = {.hidden = {8}}});
      for (int i = 0; i < 3; ++i) (void)a.train();
      return a.save_to_bytes();
    };
    CHECK(bytes() == bytes());
  });
}

TEST_CASE("sac swings the pendulum up") {
  in_world([] {
    if (manta::size() > 1) return;
    rl::sac algorithm("Pendulum-v1", {.workers = 2, .seed = 1, .model = {.hidden = {32, 32}}});
    while (algorithm.train().steps < 6000) {
    }
    CHECK(algorithm.evaluate(30).mean_return > -250);
  });
}

TEST_CASE("squashed Gaussian: its density is that of its samples, and gradients are those of central differences") {
  // One number: the density over all actions has the integral 1. The noise that leads to an action is known.
  const rl::squashed_gaussian<double> one(1);
  const double outputs[] = {0.3, -0.4};
  double integral = 0;
  const int cells = 20000;
  for (int i = 0; i < cells; ++i) {
    const double a = -1 + (2 * i + 1) / double(cells), noise = (std::atanh(a) - outputs[0]) / std::exp(outputs[1]);
    double action = 0;
    integral += std::exp(one.sample(outputs, &noise, &action)) * 2 / cells;
    REQUIRE(action == doctest::Approx(a));
  }
  CHECK(integral == doctest::Approx(1).epsilon(1e-3));
  const rl::squashed_gaussian<float> single(1);
  for (const float u : {-20.f, 20.f, 100.f}) {
    const float far[] = {u, 0.f}, none = 0;
    float action = 0;
    CHECK(std::isfinite(single.sample(far, &none, &action)));
  }

  const rl::squashed_gaussian<double> d(3);
  rl::random numbers(4);
  std::vector<double> o(6), noise(3), by_action(3), action(3), by(6);
  for (auto* all : {&o, &noise, &by_action})
    for (double& x : *all) x = numbers.normal();
  o[5] = 3;  // a deviation that is cut off: it does not move
  const auto f = [&] {
    double sum = 1.7 * d.sample(o.data(), noise.data(), action.data());
    for (std::size_t i = 0; i < 3; ++i) sum += by_action[i] * action[i];
    return sum;
  };
  d.add_gradient(o.data(), noise.data(), 1.7, by_action.data(), by.data());
  for (std::size_t i = 0; i < o.size(); ++i) {
    const double x = o[i], h = 1e-5;
    o[i] = x + h;
    const double above = f();
    o[i] = x - h;
    const double below = f();
    o[i] = x;
    CHECK(by[i] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-4));
  }
}

TEST_CASE("pink noise has mean 0 and deviation 1, and is correlated over many steps") {
  double sum = 0, squares = 0, next = 0, later = 0;
  int count = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    rl::pink_noise noise(2);
    rl::random numbers(8, run);
    std::vector<float> line;
    for (int i = 0; i < 100; ++i) {
      float x[2];
      noise.next(numbers, x);
      line.push_back(x[1]);
    }
    for (std::size_t i = 0; i + 20 < line.size(); ++i, ++count) {
      const double x = double(line[i]);
      sum += x;
      squares += x * x;
      next += x * double(line[i + 1]);
      later += x * double(line[i + 20]);
    }
  }
  CHECK(std::abs(sum / count) < 0.1);
  CHECK(squares / count == doctest::Approx(1).epsilon(0.1));
  // The mean of exp(-steps / memory) over the five memories.
  const auto expected = [](double steps) {
    return (std::exp(-steps / 4) + std::exp(-steps / 16) + std::exp(-steps / 64) + std::exp(-steps / 256)) / 5;
  };
  CHECK(next / count == doctest::Approx(expected(1)).epsilon(0.1));
  CHECK(later / count == doctest::Approx(expected(20)).epsilon(0.2));
}
