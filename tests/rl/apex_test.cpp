// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ape-X: what it learns, how much of what was done it replays, the ladder of random actions, priorities that workers
// estimate, that workers act at the same time, checkpoints, and what goes wrong.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "manta/rl.hpp"
#include "manta/rl/algorithms/apex_worker.hpp"
#include "support/campaign.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace rl = manta::rl;

namespace {

/// The reward is 1 for the action that is seen. A step takes a millisecond.
struct slow_copy {
  int wanted = 0, count = 0;
  static rl::discrete observation_space() { return {2}; }
  static rl::discrete action_space() { return {2}; }
  int reset(rl::random& random) {
    count = 0;
    return wanted = random.index(2);
  }
  rl::step<int> step(int action) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const double reward = action == wanted ? 1 : 0;
    wanted = (wanted + ++count) % 2;
    return {wanted, reward, count == 20, false};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(wanted, count);
  }
};

/// Notes by how much each environment is told to act by chance.
struct note_randomness : rl::exploration {
  static std::set<double>& seen() {
    static std::set<double> all;
    return all;
  }
  void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override {
    seen().insert(in.randomness);
    action[0] = static_cast<float>(numbers.index(2));
  }
};

double steps_a_second(int workers) {
  rl::apex algorithm(rl::environment<slow_copy>(), {.workers = workers,
                                                    .replays = 1,
                                                    .environments = 8,
                                                    .fragment = 8,
                                                    .steps_per_update = 16,
                                                    .learning_starts = 64,
                                                    .model = {.hidden = {8}}});
  algorithm.train();  // all have begun
  const auto begin = std::chrono::steady_clock::now();
  double steps = 0;
  for (int i = 0; i < 6; ++i) {
    algorithm.train();
    steps += 64;
  }
  return steps / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("apex balances the pole, and replays as much as it is told") {
  in_world([] {
    rl::apex algorithm("CartPole-v1", {.seed = 1, .updates = 2, .model = {.hidden = {32}}});
    rl::report r;
    do r = algorithm.train();
    while (r.steps < 12'000);
    CHECK(algorithm.evaluate(20).mean_return > 120);
    CHECK(r.learner.at("replay_ratio") == doctest::Approx(64 * 2 / 2).epsilon(0.05));
    CHECK(r.learner.count("loss") == 1);
    CHECK(r.learner.at("lag") >= 0);
  });
}

TEST_CASE("each environment has its own part of random actions, by the ladder") {
  rl::detail::off_policy_orders o;
  o.randomness = 0.4;
  CHECK(o.randomness_of(3) == 0.4);
  o.ladder = 7;
  o.environments = 8;
  CHECK(o.randomness_of(0) == doctest::Approx(0.4));
  CHECK(o.randomness_of(1) == doctest::Approx(std::pow(0.4, 2)));
  CHECK(o.randomness_of(7) == doctest::Approx(std::pow(0.4, 8)));
  in_world([] {
    if (manta::size() > 1) return;  // what workers see on other ranks stays there
    note_randomness::seen().clear();
    rl::apex algorithm("CartPole-v1", {.environments = 6,
                                       .epsilon = 0.5,
                                       .ladder = 4,
                                       .model = {.hidden = {8}},
                                       .exploration = rl::own<note_randomness>()});
    algorithm.train();
    std::set<double> expected;
    for (int i = 0; i < 6; ++i) expected.insert(std::pow(0.5, 1 + 4. * i / 5));
    CHECK(note_randomness::seen() == expected);
  });
}

TEST_CASE("workers estimate the errors of transitions, and priorities follow from them") {
  in_world([] {
    const rl::any_environment e = "CartPole-v1";
    const auto memory = manta::spawn<rl::replay>(e.observations(), 1, std::size_t(1000), 1.0);
    rl::detail::apex_setting s{{e.observations(), 2, {.hidden = {8}}, true, 1}, {}, {}};
    rl::detail::apex_worker worker(e, 1, 0, 4, s);
    // All values are 0: the error is the sum of the rewards, 1 + 0.5 + 0.25, or less where an episode ends.
    const std::vector<float> zeros(s.net.net().parameters().size());
    rl::detail::apex_orders o;
    o.how.randomness = 1;
    o.how.discount = 0.5;
    o.how.steps = 50;
    o.how.n_step = 3;
    o.how.from = rl::detail::call_history::any_step;
    o.reward_scale = 2;
    o.memories = {memory};
    const auto news = worker.run({zeros, rl::moments(4)}, o);
    CHECK(news.seen.size() == 4);
    const auto drawn = manta::async<&rl::replay::draw>(memory, 400, 1.0, rl::random(3)).get();
    std::set<float> rewards(drawn.drawn.rewards.begin(), drawn.drawn.rewards.end());
    CHECK(rewards.size() > 1);
    const float least = *rewards.begin();
    for (std::size_t k = 0; k < drawn.weights.size(); ++k)
      CHECK(drawn.weights[k] == doctest::Approx(least / drawn.drawn.rewards[k]).epsilon(1e-3));
  });
  rl::replay memory(2, 1, 10, 1);
  rl::transitions t;
  t.resize(2, 1, 3);
  CHECK(contains(thrown<manta::error>([&] { memory.add_rated(t, {1.f}); }), "3 transitions were added"));
  CHECK(memory.try_draw(4, 1, rl::random(1)).which.empty());
  memory.set_priorities({0, 9}, {5.f, 5.f});  // of a memory that was lost since
  t.observations.setZero();
  t.next.setZero();
  t.actions.setZero();
  memory.add_rated(t, {1.f, 2.f, 3.f});
  CHECK(memory.try_draw(4, 1, rl::random(1)).which.size() == 4);
}

TEST_CASE("two workers act at the same time, where a step takes a millisecond") {
  in_world([] {
    if (manta::size() < 4 || !manta::testing::is_long()) return;  // a busy machine says nothing
    double best = 0;
    for (int tries = 0; tries < 3 && best < 1.5; ++tries) best = std::max(best, steps_a_second(2) / steps_a_second(1));
    CHECK(best >= 1.5);
  });
}

TEST_CASE("a checkpoint of apex goes on, with another number of workers, and with as many memories") {
  in_world([] {
    rl::apex_options o{.workers = 2, .replays = 3, .seed = 2, .learning_starts = 300, .model = {.hidden = {16}}};
    rl::apex whole("CartPole-v1", o);
    for (int i = 0; i < 4; ++i) whole.train();
    const std::string bytes = whole.save_to_bytes();
    // Everything is there again: networks, optimiser, memories with their priorities, environments, open transitions,
    // and what workers had sent that was not yet learnt from.
    rl::apex same("CartPole-v1", o);
    same.load_from_bytes(bytes);
    CHECK(same.save_to_bytes() == bytes);
    o.workers = 3;
    rl::apex again("CartPole-v1", o);
    again.load_from_bytes(bytes);
    const Eigen::Vector4f seen(0.1f, 0.2f, -0.1f, 0.3f);
    CHECK(int(again.act(seen)) == int(whole.act(seen)));
    CHECK(again.evaluate(10).mean_return == whole.evaluate(10).mean_return);
    const rl::report r = again.train();
    CHECK(r.iteration == 5);
    CHECK(r.steps >= 5 * 16 * 16);
    CHECK(r.learner.at("replay_ratio") == doctest::Approx(32).epsilon(0.05));
    o.replays = 2;
    rl::apex other("CartPole-v1", o);
    CHECK(contains(thrown<manta::error>([&] { other.load_from_bytes(bytes); }),
                   "the checkpoint has 3 replay memories; .replays is 2. Nothing was changed"));
    other.train();
  });
}

TEST_CASE("what is wrong with the options of apex is one sentence, and apex and appo have names") {
  in_world([] {
    CHECK(contains(thrown<manta::error>([] { rl::apex a("Pendulum-v1"); }), "apex needs discrete actions"));
    CHECK(contains(thrown<manta::error>([] { rl::apex a("CartPole-v1", {.replays = 0}); }), ".replays is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::apex a("CartPole-v1", {.model = {.lstm = {8}}}); }),
                   "apex cannot use .lstm"));
    CHECK(contains(thrown<manta::error>([] { rl::apex a("CartPole-v1", {.replay_size = 100}); }),
                   "each of 2 memories has less than a batch then"));
    CHECK(contains(thrown<manta::error>([] { rl::apex a("CartPole-v1", {.discount = 2}); }), ".discount is 2"));
    const auto apex = rl::make_algorithm("apex", "CartPole-v1", {{"replays", "3"}, {"ladder", "5"}, {"hidden", "8"}});
    CHECK(apex->train().steps >= 256);
    CHECK(rl::algorithm_options("appo").at("clip") == "0.4");
    CHECK(rl::algorithm_options("appo").at("epochs") == "2");
    const auto appo = rl::make_algorithm("appo", "CartPole-v1", {{"epochs", "3"}, {"hidden", "8"}});
    CHECK(appo->train().learner.count("clipped") == 1);
  });
}
