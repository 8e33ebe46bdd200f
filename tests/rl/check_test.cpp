// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checker finds each mistake that environments are given here, and nothing in those that are built in. Wrappers.
#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>

#include "manta/rl.hpp"
#include "manta/rl/check.hpp"

namespace rl = manta::rl;

namespace {

enum class mistake { none, bounds, nan, size, reward, throws, endless, outside_random, stale, forgets };

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
    const bool end = place >= 10 || steps >= 30;
    rl::step<Eigen::VectorXf> s{look(), M == mistake::reward && steps == 4 ? std::numeric_limits<double>::quiet_NaN() : wind, end, false};
    if (M == mistake::bounds && steps == 2) s.observation[0] = 11;
    if (M == mistake::nan) s.observation[0] = std::numeric_limits<float>::quiet_NaN();
    if (M == mistake::size) s.observation = Eigen::VectorXf::Zero(2);
    if (M == mistake::endless) place = std::min(place, 9), s.terminated = false;
    return s;
  }
  [[nodiscard]] Eigen::VectorXf look() const { return Eigen::VectorXf::Constant(1, static_cast<float>(std::min(place, 10))); }
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
