// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several policies that learn in one game: that one seat is what PPO is, that the number of workers and ranks changes
// nothing, what is learnt, checkpoints, snapshots, and what goes wrong.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/multi.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

/// Rock, paper, scissors, at once.
struct rock_paper_scissors {
  static rl::seats seats() { return {2, rl::discrete{1}, rl::discrete{3}}; }
  void reset(rl::random&, rl::table& t) {
    t.see(0, 0);
    t.see(1, 0);
  }
  void step(rl::table& t) {
    const int lead = (t.action(0) - t.action(1) + 3) % 3;
    t.reward(0, lead == 0 ? 0 : lead == 1 ? 1 : -1);
    t.reward(1, lead == 0 ? 0 : lead == 1 ? -1 : 1);
    t.end();
  }
  int unused = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(unused);
  }
};

/// The cooperative game whose best value is 8.
struct two_step {
  int state = 0;
  static rl::seats seats() {
    return {{"first", rl::discrete{3}, rl::discrete{2}}, {"second", rl::discrete{3}, rl::discrete{2}}};
  }
  void reset(rl::random&, rl::table& t) {
    state = 0;
    look(t);
  }
  void step(rl::table& t) {
    if (state == 0) {
      state = 1 + t.action(0);
      return look(t);
    }
    const int both = t.action(0) + t.action(1);
    t.reward_all(state == 1 ? 7 : both == 0 ? 0 : both == 2 ? 8 : 1);
    t.end();
  }
  void look(rl::table& t) const {
    for (int i : {0, 1}) t.see(i, state);
    t.state(std::array{state == 0, state == 1, state == 2});
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state);
  }
};

/// Three seats of which each acts when it likes: one acts in each step, one in each third, and one comes in the fifth
/// step and leaves by being cut off. Their spaces differ.
struct crowd {
  int count = 0;
  double goal = 0;
  static rl::seats seats() {
    return {{"steady", rl::box{{-1.f, 0.f}, {1.f, 40.f}}, rl::box{{-1.f}, {1.f}}},
            {"slow", rl::box{{-1.f, 0.f}, {1.f, 40.f}}, rl::discrete{3}},
            {"guest", rl::discrete{40}, rl::discrete{2}}};
  }
  void reset(rl::random& numbers, rl::table& t) {
    count = 0;
    goal = numbers.uniform(-1, 1);
    show(t);
  }
  void step(rl::table& t) {
    t.reward(0, -std::abs(static_cast<double>(t.numbers(0)[0]) - goal));
    t.reward(1, 0.1);
    if (t.acted(1)) t.reward(1, t.action(1) == 1 ? 1 : 0);
    if (t.acted(2)) t.reward(2, t.action(2));
    ++count;
    if (count == 30) return t.end();
    show(t);
    if (count == 15) t.truncate(2);
  }
  void show(rl::table& t) const {
    const std::array seen{static_cast<float>(goal), static_cast<float>(count)};
    t.see(0, seen);
    if (count % 3 == 0) {
      t.see(1, seen);
      t.allow(1, std::array{true, true, count % 2 == 0});
    }
    if (count >= 5 && count <= 15) t.see(2, count);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, goal);
  }
};

const rl::ppo_options little = {.epochs = 3, .model = {.hidden = {16}}};

/// What a policy acts by, as bytes.
std::string bytes_of(const rl::trained_policy& p) {
  return manta::output::pack(p.network(), p.filter(), p.acting().choice().spread);
}

/// Everything that a training of some iterations leaves.
std::string trained(const rl::any_game& g, rl::multi_options o, int workers, int iterations = 4) {
  o.workers = workers;
  rl::multi training(g, o);
  std::string all;
  for (int i = 0; i < iterations; ++i) {
    rl::multi_report r = training.train();
    r.seconds = r.sample_seconds = r.learn_seconds = 0;
    all += manta::output::pack(r);
  }
  return all + training.save_to_bytes();
}

rl::multi_options for_crowd() {
  return {.seed = 5,
          .environments = 6,
          .fragment = 47,
          .policies = {{"steady", little}, {"slow", little}, {"guest", little}}};
}

void check_same_as_ppo(const rl::any_environment& e, rl::ppo_options o) {
  o.workers = 2;
  o.seed = 3;
  rl::ppo alone(e, o);
  rl::ppo_options its = o;
  its.workers = rl::ppo_options().workers;
  its.environments = rl::ppo_options().environments;
  its.fragment = rl::ppo_options().fragment;
  its.seed = 0;
  rl::multi training(rl::together(e, 1), {.workers = o.workers,
                                          .seed = o.seed,
                                          .environments = o.environments,
                                          .fragment = o.fragment,
                                          .policies = {{"only", its}}});
  for (int i = 0; i < 4; ++i) {
    const rl::report expected = alone.train();
    const rl::multi_report r = training.train();
    const rl::report& got = r["only"];
    CHECK(got.mean_return == expected.mean_return);
    CHECK(got.min_return == expected.min_return);
    CHECK(got.max_return == expected.max_return);
    CHECK(got.mean_length == expected.mean_length);
    CHECK(got.steps == expected.steps);
    CHECK(got.episodes == expected.episodes);
    CHECK(got.learner == expected.learner);
    CHECK(r.steps == expected.steps);
  }
  CHECK(bytes_of(training.trained("only")) == bytes_of(alone.trained()));
}

}  // namespace

TEST_CASE("one seat learns the same as ppo, bit for bit") {
  in_world([] {
    check_same_as_ppo("CartPole-v1", {});
    check_same_as_ppo(rl::any_environment("Pendulum-v1").with_time_limit(70),
                      {.environments = 5, .fragment = 100, .model = {.hidden = {16}}});
    check_same_as_ppo("Taxi-v3", {.environments = 4, .fragment = 150, .model = {.hidden = {16}}});
  });
}

TEST_CASE("any number of workers gives the same bits, with seats that wait, come and go") {
  in_world([] {
    const auto g = rl::environment<crowd>();
    const std::string one = trained(g, for_crowd(), 1);
    CHECK(trained(g, for_crowd(), 2) == one);
    CHECK(trained(g, for_crowd(), 3) == one);
    rl::multi_options central = for_crowd();
    central.central_values = true;
    const std::string with_central = trained(g, central, 1);
    CHECK(trained(g, central, 3) == with_central);
    CHECK(with_central != one);
  });
}
