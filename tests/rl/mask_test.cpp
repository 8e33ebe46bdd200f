// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Masks of actions: in environments in which a single action that is not allowed is an error, every algorithm takes
// none, in training, evaluation and act(); probabilities and gradients beside sums by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "manta/rl.hpp"
#include "manta/rl/environments/check.hpp"
#include "manta/rl/environments/gymnasium.hpp"
#include "manta/rl/environments/wrappers.hpp"
#include "support/python.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace rl = manta::rl;

namespace {

/// Twenty cards are drawn; of five choices some are allowed, and the highest of these is the best one.
struct game {
  static constexpr int length = 20;
  rl::random numbers = rl::random(0);
  int steps = 0;
  std::array<bool, 5> open{};

  static rl::box observation_space() { return {std::vector<float>(5, 0.f), std::vector<float>(5, 1.f)}; }
  static rl::discrete action_space() { return {5, -2}; }
  [[nodiscard]] std::array<bool, 5> action_mask() const {
    if (steps == length) throw std::runtime_error("it was asked what is allowed after the end");
    return open;
  }
  std::array<float, 5> reset(rl::random& random) {
    numbers = rl::random(random.bits());
    steps = 0;
    return draw();
  }
  rl::step<std::array<float, 5>> step(int action) {
    const auto choice = static_cast<std::size_t>(action + 2);
    if (!open.at(choice)) throw std::runtime_error("the choice " + std::to_string(choice) + " is not allowed");
    double higher = 0;
    for (std::size_t i = choice + 1; i < 5; ++i) higher += open[i];
    ++steps;
    return {draw(), -higher, steps == length};
  }
  std::array<float, 5> draw() {
    std::array<float, 5> seen{};
    for (bool& o : open) o = numbers.uniform() < 0.4;
    open[static_cast<std::size_t>(numbers.index(5))] = true;
    for (std::size_t i = 0; i < 5; ++i) seen[i] = open[i] ? 1.f : 0.f;
    return seen;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(numbers, steps, open);
  }
};

/// Two parts: the first is one of three, of which one is closed in turn; the second one is a switch that sticks.
struct levers {
  int at = 0;
  static rl::box observation_space() { return {{0.f}, {2.f}}; }
  static rl::multi_discrete action_space() { return {{3, 2}}; }
  [[nodiscard]] std::vector<int> action_mask() const { return {at != 0, at != 1, at != 2, at == 1, 1}; }
  float reset(rl::random& random) { return static_cast<float>(at = random.index(3)); }
  rl::step<float> step(const std::vector<int>& a) {
    if (a[0] == at || (a[1] == 0 && at != 1)) throw std::runtime_error("not allowed");
    at = (at + a[0]) % 3;
    return {static_cast<float>(at), a[1] == 0 ? 1. : 0., false, false};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};

/// The second choice is worth 10 where it is open. From the start, the first choice leads for 1 to a place that looks
/// nearly the same but where it is closed; the second one ends it for 2, which is better.
struct mirage {
  float place = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static rl::discrete action_space() { return {2}; }
  [[nodiscard]] std::vector<bool> action_mask() const { return {true, place != 0.95f}; }
  float reset(rl::random& random) { return place = random.uniform() < 0.5 ? 0.f : 1.f; }
  rl::step<float> step(int action) {
    if (place == 0.95f && action == 1) throw std::runtime_error("it is closed");
    if (place == 0.f && action == 0) return {place = 0.95f, 1, false, false};
    const double reward = place == 1.f && action == 1 ? 10 : place == 0.f ? 2 : 0;
    return {place, reward, true, false};
  }
};

enum class fault { size, none, box };
template <fault F>
struct faulty {
  int steps = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static auto action_space() {
    if constexpr (F == fault::box) {
      return rl::box{{0.f}, {1.f}};
    } else {
      return rl::discrete{2};
    }
  }
  [[nodiscard]] std::vector<bool> action_mask() const {
    if (F == fault::size) return {true, true, false};
    return {steps < 3, false};
  }
  float reset(rl::random&) { return 0; }
  rl::step<float> step(auto) { return {0, 0, ++steps == 9, false}; }
};

/// The best game has the return 0; a policy that takes any allowed choice about -20.
template <class Algorithm>
void plays(typename Algorithm::options o, int iterations, double least) {
  const std::string file = "mask-test-" + std::to_string(manta::size());
  o.seed = 1;
  Algorithm algorithm(rl::environment<game>(), o);
  for (int i = 0; i < iterations; ++i) algorithm.train();
  CHECK(algorithm.evaluate(20).mean_return > least);
  // An observation for which the masks below have never been.
  const std::array<float, 5> all{1, 1, 1, 1, 1};
  for (int i = 0; i < 5; ++i) {
    std::vector<bool> one(5);
    one[static_cast<std::size_t>(i)] = true;
    CHECK(static_cast<int>(algorithm.act(all, one)) == i - 2);
  }
  CHECK(contains(thrown<manta::error>([&] { (void)algorithm.act(all); }), "act: the observation needs a mask too"));
  CHECK(contains(thrown<manta::error>([&] { (void)algorithm.act(all, std::vector<int>{1}); }),
                 "manta: rl: act: the observation: the action mask has 1 numbers"));
  CHECK(contains(thrown<manta::error>([&] { (void)algorithm.act(all, std::vector<int>(5)); }),
                 "act: the observation: the action mask allows no action"));
  algorithm.save(file);
  o.workers = 3;
  Algorithm again(rl::environment<game>(), o);
  again.load(file);
  CHECK(again.train().learner == algorithm.train().learner);
  std::filesystem::remove(file);
}

}  // namespace

TEST_CASE("ppo takes no action that is not allowed, and learns which of the others is the best") {
  in_world([] {
    plays<rl::ppo>({.workers = 2, .fragment = 64}, 15, -4);
    rl::ppo once(rl::environment<game>(), {.fragment = 16, .epochs = 1, .batch = 128});
    CHECK(std::abs(once.train().learner.at("kl")) < 1e-6);  // the learner's probabilities are those that acted
    rl::ppo two(rl::frame_stack(rl::sticky_actions(rl::environment<levers>(), 0.5).with_time_limit(15), 2),
                {.workers = 2, .fragment = 32, .model = {.hidden = {8}, .lstm = {8}}});
    for (int i = 0; i < 3; ++i) two.train();
    CHECK(two.evaluate(5).mean_length == 15);
  });
}

TEST_CASE("dqn takes no action that is not allowed, and its targets count none") {
  in_world([] {
    plays<rl::dqn>({.workers = 2, .learning_starts = 300, .exploration_steps = 3000, .model = {.hidden = {32}}}, 25,
                   -4);
    for (const bool dual : {true, false}) {
      rl::dqn algorithm(rl::environment<mirage>(), {.n_step = 1,
                                                    .learning_starts = 200,
                                                    .follow = 0.02,
                                                    .exploration_steps = 1000,
                                                    .dual = dual,
                                                    .model = {.hidden = {32}}});
      for (int i = 0; i < 12; ++i) algorithm.train();
      CHECK(static_cast<int>(algorithm.act(0.f, std::vector<bool>{true, true})) == 1);
    }
  });
}

TEST_CASE("the other algorithms take no action that is not allowed") {
  in_world([] {
    plays<rl::es>({.workers = 2, .pairs = 8}, 3, -25);
    const auto trains = [](auto&& algorithm) {
      // About half of the choices are allowed: the learner's entropies are those of the policies that acted.
      for (int i = 0; i < 3; ++i) CHECK(algorithm.train().learner.at("entropy") < 1.1);
      CHECK(algorithm.evaluate(5).mean_length == game::length);
    };
    trains(rl::a2c(rl::environment<game>(), {.workers = 2}));
    trains(rl::a3c(rl::environment<game>(), {.workers = 2}));
    trains(rl::impala(rl::environment<game>(), {.workers = 2}));
  });
}

TEST_CASE("algorithms take no action that an environment of Python does not allow") {
  if (!manta::testing::has_python()) return;
  setenv("PYTHONPATH", manta::testing::folder_beside(__FILE__, "gymnasium").c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  const rl::any_environment cards = rl::gymnasium("Cards-v0", {.module = "stand_in"});
  in_world([&] {
    rl::ppo ppo(cards, {.workers = 2, .seed = 1, .fragment = 16});
    rl::dqn dqn(rl::frame_stack(cards, 2), {.seed = 1, .learning_starts = 100, .model = {.hidden = {8}}});
    rl::es es(cards, {.workers = 2, .seed = 1, .pairs = 2});
    for (int i = 0; i < 3; ++i) {
      CHECK(ppo.train().learner.at("entropy") < 1.3);  // log 5 is 1.6
      dqn.train();
      es.train();
    }
    CHECK(ppo.evaluate(2).mean_length == game::length);
    const std::array<float, 5> none{};
    CHECK(static_cast<int>(ppo.act(none, std::vector<bool>{false, false, false, true, false})) == 1);
  });
}

TEST_CASE("probabilities of allowed actions add up to 1, the others have none, and no gradient") {
  const rl::space actions = rl::multi_discrete{{3, 4}};
  const auto d = rl::make_distribution(actions);
  const std::vector<unsigned char> mask{0, 1, 1, 1, 0, 0, 1};
  std::vector<float> given(7);
  rl::random numbers(4);
  for (float& x : given) x = static_cast<float>(numbers.normal());
  const auto masked = [&] {
    std::vector<float> o = given;
    rl::detail::forbid(mask, o.data());
    return o;
  };
  const auto e = [&](std::size_t i) { return std::exp(static_cast<double>(given[i])); };
  const double first = e(1) + e(2), second = e(3) + e(6);
  const std::vector<float> action{2, 3};
  const auto log_probability = [&] {
    return static_cast<double>(d->log_probability(masked().data(), nullptr, action.data()));
  };
  CHECK(log_probability() == doctest::Approx(std::log(e(2) / first * e(6) / second)).epsilon(1e-5));
  double entropy = 0;
  for (const auto& [i, sum] : {std::pair<std::size_t, double>{1, first}, {2, first}, {3, second}, {6, second}})
    entropy -= e(i) / sum * std::log(e(i) / sum);
  CHECK(static_cast<double>(d->entropy(masked().data(), nullptr)) == doctest::Approx(entropy).epsilon(1e-5));

  std::vector<float> by(7);
  d->add_gradient(masked().data(), nullptr, action.data(), {2, 3}, by.data(), nullptr);
  const auto f = [&] { return 2 * log_probability() + 3 * static_cast<double>(d->entropy(masked().data(), nullptr)); };
  for (std::size_t i = 0; i < given.size(); ++i) {
    const float x = given[i], h = 1e-2f;
    given[i] = x + h;
    const double above = f();
    given[i] = x - h;
    const double below = f();
    given[i] = x;
    CHECK(static_cast<double>(by[i]) == doctest::Approx((above - below) / (2 * static_cast<double>(h))).epsilon(0.02));
    if (mask[i] == 0) CHECK(by[i] == 0);
  }
  std::vector<float> drawn(2);
  int counts = 0;
  for (int i = 0; i < 20000; ++i) {
    d->sample(masked().data(), nullptr, numbers, drawn.data());
    REQUIRE(rl::detail::is_allowed(actions, mask, drawn));
    counts += drawn == action;
  }
  CHECK(counts / 20000. == doctest::Approx(e(2) / first * e(6) / second).epsilon(0.1));
}

TEST_CASE("a draw never ends on a choice of probability 0, however the probabilities are rounded") {
  std::vector<std::uint64_t> extreme;  // seeds whose first number is nearly 0 or nearly 1
  for (std::uint64_t seed = 0; seed < 1'000'000; ++seed) {
    const double at = rl::random(seed).uniform();
    if (at < 2e-7 || at > 1 - 2e-6) extreme.push_back(seed);
  }
  CHECK(extreme.size() >= 3);
  for (int n = 100; n < 1500; n += 100) {
    const auto d = rl::make_distribution(rl::discrete{n});
    std::vector<float> outputs(static_cast<std::size_t>(n));
    std::vector<unsigned char> mask(outputs.size(), 1);
    mask.front() = mask.back() = *(mask.end() - 2) = 0;
    rl::detail::forbid(mask, outputs.data());
    for (const std::uint64_t seed : extreme) {
      rl::random numbers(seed);
      float drawn = 0;
      d->sample(outputs.data(), nullptr, numbers, &drawn);
      CHECK(mask[static_cast<std::size_t>(drawn)] == 1);
    }
  }
}

TEST_CASE("what is wrong with a mask is said by the checker, by training, and where actions cannot be masked") {
  CHECK(thrown<manta::error>([] { rl::check<game>(); }) == "");
  CHECK(thrown<manta::error>([] { rl::check(rl::sticky_actions(rl::environment<game>(), 0.5)); }) == "");
  CHECK(contains(thrown<manta::error>([] { rl::check<faulty<fault::size>>(); }),
                 "after reset(): the action mask has 3 numbers; it needs one for each choice, which are 2"));
  CHECK(contains(thrown<manta::error>([] { rl::check<faulty<fault::none>>(); }),
                 "step 2 with the action {0}: the action mask allows no action, though the episode goes on"));
  CHECK(contains(thrown<manta::error>([] { (void)rl::environment<faulty<fault::box>>(); }),
                 "actions of the space box{{0}, {1}} cannot be masked"));
  in_world([] {
    const std::string said = thrown<manta::error>([] { rl::ppo(rl::environment<faulty<fault::none>>(), {}).train(); });
    CHECK(contains(said, "episode 0, step 2: the action mask allows no action"));
  });
}
