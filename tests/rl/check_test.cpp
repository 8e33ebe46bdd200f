// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checker finds each mistake that environments are given here, and nothing in those that are built in. Wrappers.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

template <class F>
std::string said_by(F&& f) {
  try {
    f();
  } catch (const manta::error& e) {
    return e.what();
  }
  return "";
}

template <mistake M>
std::string said() {
  return said_by([] { rl::check<walk<M>>(); });
}

void check_says(const std::string& text, const char* expected) {
  INFO(text);
  CHECK(text.find(expected) != std::string::npos);
}

/// What a step takes and gives, for spaces of each kind.
template <class Actions, class Action, class Observations = rl::box, class Observation = Eigen::VectorXf>
struct shaped {
  static Observations observation_space() {
    if constexpr (std::is_same_v<Observations, rl::box>) {
      return {{0.f}, {1.f}};
    } else {
      return {};
    }
  }
  static Actions action_space();
  Observation reset(rl::random&) { return {}; }
  rl::step<Observation> step(Action) { return {}; }
};
template <>
rl::multi_discrete shaped<rl::multi_discrete, int>::action_space() {
  return {{3, 2}};
}
template <>
rl::box shaped<rl::box, float>::action_space() {
  return {{-1.f, -1.f}, {1.f, 1.f}};
}
template <class Observation, class Space = rl::box>
constexpr bool can_be_seen = rl::detail::observation_fits<shaped<rl::discrete, int, Space, Observation>, Observation>();
template <class Actions, class Action>
constexpr auto form = rl::detail::form_of_actions<shaped<Actions, Action>>();

/// Observations and actions are dicts, by the names of their parts.
struct by_name {
  static rl::dict observation_space() {
    return {{{"b", rl::box{{0.f}, {9.f}}}, {"a", rl::box{{0.f, 0.f}, {9.f, 9.f}}}}};
  }
  static rl::dict action_space() { return {{{"turn", rl::discrete{3}}, {"push", rl::box{{-1.f}, {1.f}}}}}; }
  bool forgets = false;
  rl::dict_values reset(rl::random&) {
    return forgets ? rl::dict_values{{"b", {3}}} : rl::dict_values{{"b", {3}}, {"a", {1, 2}}};
  }
  rl::step<rl::dict_values> step(const rl::dict_values& action) {
    const double turn = static_cast<double>(action.at("turn").at(0));
    return {{{"b", {3}}, {"a", {4, 5}}}, turn, true, false};
  }
};

}  // namespace

TEST_CASE("an environment whose step takes too little, or whose observations fit nothing, is refused") {
  check_says(said_by([] { rl::environment<shaped<rl::multi_discrete, int>>(); }),
             "an action of multi_discrete{{3, 2}} has 2 numbers, and step(action) takes one; let it take");
  check_says(said_by([] { rl::environment<shaped<rl::box, float>>(); }), "has 2 numbers, and step(action) takes one");
  using rl::detail::action_form;
  static_assert(form<rl::box, float> == action_form::one_number && form<rl::discrete, int> == action_form::choice);
  static_assert(form<rl::box, std::vector<float>> == action_form::floats &&
                form<rl::box, std::string> == action_form::none);
  static_assert(can_be_seen<Eigen::VectorXf> && can_be_seen<std::array<double, 3>> && can_be_seen<int>);
  static_assert(!can_be_seen<std::vector<bool>> && !can_be_seen<std::map<std::string, float>>);
  static_assert(!can_be_seen<std::pair<std::vector<float>, int>> && !can_be_seen<std::vector<std::vector<float>>>);
  static_assert(can_be_seen<rl::dict_values, rl::dict> && !can_be_seen<rl::dict_values>);
}

TEST_CASE("observations and actions of a dict have their parts by name, in the order of the names") {
  const auto e = rl::environment<by_name>();
  const auto object = e.make();
  std::vector<float> seen(3);
  rl::random numbers;
  object->reset(numbers, seen);
  CHECK(seen == std::vector<float>{1, 2, 3});
  CHECK(object->step(std::vector<float>{0.5f, 2}, seen).reward == 2);
  CHECK(seen == std::vector<float>{4, 5, 3});
  CHECK(e.observations().part("a", seen).size() == 2);
  CHECK(e.observations().part("b", seen)[0] == 3);
  check_says(said_by([&] { (void)e.observations().part("c", seen); }), "has no part \"c\"; its parts are a, b");
  check_says(said_by([] { rl::check<by_name>(true); }), "an observation has no part \"a\"");
}

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
