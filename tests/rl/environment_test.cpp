// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Environments against trajectories that trajectories.py computes from the published equations.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <type_traits>

#include "manta/rl.hpp"
#include "support/text.hpp"

namespace rl = manta::rl;

TEST_CASE("trajectories are those of the published equations"){
// Each from a fixed state by fixed actions; see trajectories.py beside this file.
#include "trajectories.inc"
}

TEST_CASE("a vector of environments begins episodes anew and keeps the last observation") {
  rl::vector_environment all("CartPole-v1", 3, 0, 5), part("CartPole-v1", 3, 3, 2);
  all.reset();
  part.reset();
  CHECK(all.observations().rightCols(2) == part.observations());
  manta::nn::matrix<float> right = manta::nn::matrix<float>::Ones(1, 5);
  std::vector<rl::episode> ended;
  for (int i = 0; i < 30; ++i) {
    all.step(right);
    part.step(right.leftCols(2));
    CHECK(all.observations().rightCols(2) == part.observations());
    for (std::size_t k = 0; k < 5; ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      if (!all.terminated()[k]) continue;
      CHECK(std::abs(all.last_observations()(2, column)) > 0.2f);
      CHECK(std::abs(all.observations()(2, column)) < 0.06f);
    }
    for (const rl::episode& e : all.take_episodes()) ended.push_back(e);
  }
  CHECK(ended.size() >= 10);
  for (const rl::episode& e : ended) CHECK(e.total == static_cast<double>(e.length));
}

namespace {
using clock_type = std::chrono::steady_clock;

/// What the watch says of environments after so many seconds.
std::string said_after(clock_type::time_point begin, int seconds) {
  std::string all;
  for (const std::string& s : rl::detail::look_at_environments(begin + std::chrono::seconds(seconds))) all += s;
  return all;
}

/// Its third step takes long, by the clock that the watch is told.
struct slow {
  int steps = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) { return 0; }
  rl::step<float> step(int) {
    if (++steps == 3) {
      const auto begin = clock_type::now();
      CHECK(said_after(begin, 0) == "");
      CHECK(said_after(begin, 29) == "");
      CHECK(
          said_after(begin, 31).starts_with("manta: rl: environment 7 ((anonymous namespace)::slow) has been in "
                                            "step() of episode 1, step 0, for 3"));
      CHECK(said_after(begin, 55) == "");  // once whenever the time has doubled
      CHECK(said_after(begin, 62) != "");
    }
    return {0, 0, steps % 2 == 0, false};
  }
};
}  // namespace

static_assert(std::is_constructible_v<rl::any_environment, rl::environment<slow>&> &&
                  std::is_convertible_v<rl::environment<slow>, rl::any_environment>,
              "an environment of a class is an environment, also in explicit words");

TEST_CASE("an environment that hangs is named, with episode and step") {
  rl::vector_environment e(rl::environment<slow>(), 1, 7, 1);
  e.reset();
  for (int i = 0; i < 4; ++i) e.step(manta::nn::matrix<float>::Zero(1, 1));
  const auto now = clock_type::now();
  CHECK(said_after(now, 0) == "");
  CHECK(said_after(now, 1000) == "");
}

TEST_CASE("a limit of time truncates and does not terminate") {
  rl::vector_environment e(rl::any_environment("Pendulum-v1").with_time_limit(3), 1, 0, 1);
  e.reset();
  for (int i = 1; i <= 6; ++i) {
    e.step(manta::nn::matrix<float>::Zero(1, 1));
    CHECK(bool(e.truncated()[0]) == (i % 3 == 0));
    CHECK(!e.terminated()[0]);
  }
}

TEST_CASE("spaces contain what they sample, and flatten it") {
  rl::random numbers(1);
  for (const rl::space& s : {rl::space(rl::discrete{4, 2}), rl::space(rl::multi_discrete{{2, 3}}),
                             rl::space(rl::box{{0.f, -1.f}, {1.f, 1.f}})}) {
    for (int i = 0; i < 50; ++i) {
      std::vector<float> value(static_cast<std::size_t>(s.size())), features(static_cast<std::size_t>(s.features()));
      s.sample(numbers, value.data());
      CHECK(s.contains(value));
      s.flatten(value, features.data());
      value[0] += 10;
      CHECK(!s.contains(value));
    }
  }
  CHECK_THROWS_AS(rl::space(rl::box{{1.f}, {0.f}}), manta::error);
  CHECK_THROWS_AS(rl::space(rl::discrete{0}), manta::error);
  CHECK_THROWS_AS(rl::space(rl::box{{0.f}, {1.f}, {-1, -1}}), manta::error);
  CHECK_THROWS_AS(rl::space(rl::discrete{2, 1 << 30}), manta::error);
  for (const auto& make : std::vector<std::function<rl::space()>>{
           [] { return rl::discrete{2'000'000'000}; }, [] { return rl::multi_binary{1 << 21}; },
           [] {
             return rl::multi_discrete{{2'000'000'000, 2'000'000'000}};
           }})
    CHECK(manta::testing::contains(manta::testing::thrown<manta::error>([&] { (void)make(); }), "too many choices"));
}
