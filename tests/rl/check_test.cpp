// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checker finds each mistake that environments are given here, and nothing in those that are built in. Wrappers.
#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "manta/rl.hpp"
#include "manta/rl/environments/check.hpp"

namespace rl = manta::rl;

namespace {

enum class mistake { none, bounds, nan, size, reward, throws, throws_number, endless, outside_random, stale, forgets };

/// A walk to the right, with a mistake.
template <mistake M>
struct walk {
  static rl::box observation_space() { return {{0.f}, {10.f}}; }
  static rl::discrete action_space() { return {2}; }
  Eigen::VectorXf reset(rl::random& random) {
    place = random.index(3);
    if (M == mistake::outside_random) place = std::rand() % 5;
    if (M != mistake::stale) steps = 0;
    wind = random.uniform();
    return look();
  }
  rl::step<Eigen::VectorXf> step(int action) {
    ++steps;
    place += action;
    if (M == mistake::throws && steps == 3) throw std::runtime_error("no way");
    if (M == mistake::throws_number && steps == 3) throw 42;
    const bool end = place >= 10 || steps >= 30;
    rl::step<Eigen::VectorXf> s{
        look(), M == mistake::reward && steps == 4 ? std::numeric_limits<double>::quiet_NaN() : wind, end, false};
    if (M == mistake::bounds && steps == 2) s.observation[0] = 11;
    if (M == mistake::nan) s.observation[0] = std::numeric_limits<float>::quiet_NaN();
    if (M == mistake::size) s.observation = Eigen::VectorXf::Zero(2);
    if (M == mistake::endless) place = std::min(place, 9), s.terminated = false;
    return s;
  }
  [[nodiscard]] Eigen::VectorXf look() const {
    return Eigen::VectorXf::Constant(1, static_cast<float>(std::min(place, 10)));
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(place, steps);
    if (M != mistake::forgets) archive(wind);
  }
  int place = 0, steps = 0;
  double wind = 0;
};

template <mistake M>
std::string said() {
  try {
    rl::check<walk<M>>();
  } catch (const manta::error& e) {
    return e.what();
  }
  return "";
}

void check_says(const std::string& text, const char* expected) {
  INFO(text);
  CHECK(text.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("the checker says each mistake of a user's environment") {
  CHECK(said<mistake::none>() == "");
  check_says(said<mistake::bounds>(), "step 1 with the action {");
  check_says(said<mistake::bounds>(), "the observation {11} is not in observation_space(), box{{0}, {10}}");
  check_says(said<mistake::nan>(), "number 0 is NaN");
  check_says(said<mistake::size>(), "an observation has 2 numbers; observation_space() says 1");
  check_says(said<mistake::reward>(), "the reward is NaN");
  check_says(said<mistake::throws>(), "throws: no way");
  check_says(said<mistake::throws_number>(), "throws: what is no std::exception");
  check_says(said<mistake::endless>(), "no episode of random actions ended");
  check_says(said<mistake::outside_random>(), "all randomness has to come from the rl::random");
  check_says(said<mistake::stale>(), "reset() has to set all members anew");
  check_says(said<mistake::forgets>(), "serialize() has to name all members");
}

TEST_CASE("the checker finds nothing in the environments that are built in") {
  for (const std::string& name : rl::environment_names()) {
    INFO(name);
    const std::vector<std::string> mistakes = rl::find_mistakes(name);
    CHECK(mistakes.empty());
    for (const std::string& m : mistakes) MESSAGE(m);
  }
}

namespace {

/// Rewards are 1, -2, 3, -4, .., the observation the action before and the step.
struct signals {
  static rl::box observation_space() { return {{0.f, 0.f}, {2.f, 100.f}}; }
  static rl::discrete action_space() { return {3}; }
  std::array<float, 2> reset(rl::random&) {
    steps = 0;
    return {0, 0};
  }
  rl::step<std::array<float, 2>> step(int action) {
    ++steps;
    return {{static_cast<float>(action), static_cast<float>(steps)},
            steps % 2 == 1 ? double(steps) : -double(steps),
            steps == 50};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(steps);
  }
  int steps = 0;
};

/// Actions within [0, 4], given back.
struct echo {
  static rl::box observation_space() { return {{0.f}, {4.f}}; }
  static rl::box action_space() { return {{0.f}, {4.f}}; }
  float reset(rl::random&) { return 0; }
  rl::step<float> step(float action) { return {action, 0, false, false}; }
};

/// One environment of this kind, begun.
rl::vector_environment one(const rl::any_environment& e) {
  rl::vector_environment v(e, 1, 0, 1);
  v.reset();
  return v;
}

manta::nn::matrix<float> number(float x) { return manta::nn::matrix<float>::Constant(1, 1, x); }

std::vector<float> observed(const rl::vector_environment& v) {
  return {v.observations().data(), v.observations().data() + v.observations().size()};
}

}  // namespace

TEST_CASE("frame_stack joins the last observations, and begins with the first one alone") {
  rl::vector_environment v = one(rl::frame_stack(rl::environment<signals>().with_time_limit(3), 3));
  CHECK(observed(v) == std::vector<float>{0, 0, 0, 0, 0, 0});
  v.step(number(1));
  v.step(number(2));
  CHECK(observed(v) == std::vector<float>{0, 0, 1, 1, 2, 2});
  v.step(number(1));
  CHECK(v.truncated()[0]);
  CHECK(v.last_observations().col(0)(0) == 1);
  CHECK(observed(v) == std::vector<float>{0, 0, 0, 0, 0, 0});
  const rl::any_environment breakout = rl::frame_stack("MinAtar/Breakout-v1", 2);
  CHECK(breakout.observations().as_box()->shape == std::vector<int>{8, 10, 10});
  CHECK(breakout.name() == "frame_stack(MinAtar/Breakout-v1)");
}

TEST_CASE("rewards, observations and actions are clipped and scaled") {
  rl::vector_environment v = one(rl::scale_rewards(rl::clip_rewards(rl::environment<signals>(), -1.5, 2.5), 2));
  for (double expected : {2., -3., 5., -3.}) {
    v.step(number(0));
    CHECK(v.rewards()[0] == expected);
  }
  rl::vector_environment w = one(rl::clip_observations(rl::environment<signals>(), 0.5f, 1.5f));
  w.step(number(2));
  CHECK(observed(w) == std::vector<float>{1.5f, 1});
  rl::vector_environment x = one(rl::rescale_actions(rl::environment<echo>()));
  for (auto [action, expected] : {std::pair{-1.f, 0.f}, {0.f, 2.f}, {0.5f, 3.f}, {1.f, 4.f}}) {
    x.step(number(action));
    CHECK(observed(x).front() == expected);
  }
}

TEST_CASE("sticky actions repeat the former one as often as they should") {
  rl::vector_environment v = one(rl::sticky_actions(rl::environment<signals>(), 0.25));
  int repeated = 0, all = 0;
  float before = -1;
  for (int i = 0; i < 20000; ++i) {
    const float action = static_cast<float>(i % 2);  // never the former one
    v.step(number(action));
    const float done = v.terminated()[0] ? v.last_observations()(0, 0) : observed(v)[0];
    if (before >= 0) {
      ++all;
      repeated += done != action;
    }
    before = v.terminated()[0] ? -1 : done;
  }
  // The action that is repeated was the one before the last as often: 0.25 of the time the former one, which differs
  // from the action unless it was itself repeated. The stationary share p satisfies p = 0.25 * (1 - p).
  CHECK(std::abs(repeated / double(all) - 0.2) < 0.015);
}

TEST_CASE("one_hot makes a box of choices, and wrappers pass the checker, also when they are saved") {
  rl::vector_environment v = one(rl::one_hot("FrozenLake-v1"));
  std::vector<float> start(16);
  start[0] = 1;
  CHECK(observed(v) == start);
  for (const rl::any_environment& e :
       {rl::one_hot("FrozenLake-v1"), rl::frame_stack("CartPole-v1", 4), rl::sticky_actions("CartPole-v1", 0.5),
        rl::rescale_actions("Pendulum-v1"), rl::frame_stack(rl::sticky_actions("MinAtar/Breakout-v0", 0.25), 2)}) {
    INFO(e.name());
    for (const std::string& m : rl::find_mistakes(e)) FAIL_CHECK(m);
  }
  CHECK_THROWS_WITH_AS(rl::one_hot("CartPole-v1"), doctest::Contains("needs observations that are choices"),
                       manta::error);
  CHECK_THROWS_WITH_AS(rl::frame_stack("Taxi-v3", 4),
                       doctest::Contains("frame_stack needs a box; this is discrete{500}"), manta::error);
}
