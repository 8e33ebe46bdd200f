// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Teams whose values are learnt together: the mathematics of the mixer, what QMIX, VDN and independent learners reach
// in the two-step game, that the number of workers and ranks changes nothing, checkpoints, policies of seats, and what
// goes wrong.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/multi.hpp"
#include "manta/rl/qmix.hpp"
#include "support/two_step_team.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
using matrix_games::reached;
using matrix_games::team_options;
using matrix_games::two_step;
namespace rl = manta::rl;
namespace nn = manta::nn;

namespace {

/// One carries for some steps and waits for the other, who has other choices, one of which is forbidden at times. The
/// carrier leaves in the sixth step, and the episode is cut off or ends.
struct relay {
  int count = 0, weight = 0;
  bool is_cut = false;
  static rl::seats seats() {
    return {{"carrier", rl::box{{0.f, 0.f}, {9.f, 4.f}}, rl::discrete{2}},
            {"helper", rl::discrete{10}, rl::discrete{3, 1}}};
  }
  void reset(rl::random& numbers, rl::table& t) {
    count = 0;
    weight = numbers.index(4);
    is_cut = numbers.index(2) == 0;
    show(t);
  }
  void step(rl::table& t) {
    if (t.acted(0)) t.reward(0, t.action(0) == weight % 2 ? 1 : 0);
    if (t.acted(1)) t.reward(1, t.action(1) == 2 ? 0.5 : 0);
    ++count;
    if (count == 9 && !is_cut) return t.end();
    show(t);
    if (count == 6) t.end(0);
    if (count == 9) t.truncate();
  }
  void show(rl::table& t) const {
    if (count < 6) t.see(0, std::array{static_cast<float>(count), static_cast<float>(weight)});
    if (count % 2 == 1 || count >= 6) {
      t.see(1, count);
      t.allow(1, std::array{true, true, count != 3});
    }
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, weight, is_cut);
  }
};

rl::qmix_options for_relay() {
  return {.seed = 5,
          .environments = 6,
          .fragment = 20,
          .batch = 16,
          .learning_starts = 200,
          .exploration_steps = 600,
          .mixing_units = 8,
          .mixing_hidden = 8,
          .model = {.hidden = {16}}};
}

/// Everything that a training of some iterations leaves.
std::string trained(rl::qmix_options o, int workers) {
  o.workers = workers;
  rl::qmix training(rl::environment<relay>(), o);
  std::string all;
  for (int i = 0; i < 5; ++i) {
    const rl::report r = training.train();
    all += std::to_string(r.mean_return) + ' ' + std::to_string(r.learner.count("loss") > 0 ? r.learner.at("loss") : 0);
  }
  return all + training.save_to_bytes();
}

}  // namespace

TEST_CASE("the mixer rises with each value, and its gradients are those of central differences") {
  constexpr int seats = 3, state = 4, samples = 5;
  rl::detail::q_mixer m(rl::mixing::monotone, seats, state, 6, 7, 3);
  rl::random numbers(2);
  nn::matrix<float> q(seats, samples), s(state, samples), by(1, samples);
  for (nn::matrix<float>* x : {&q, &s, &by}) {
    for (float& v : x->reshaped()) v = static_cast<float>(numbers.normal());
  }
  const auto sum = [&] { return static_cast<double>(m.forward(q, s).cwiseProduct(by).sum()); };
  sum();
  m.net().zero_gradients();
  const nn::matrix<float> by_q = m.backward(by);
  const auto difference = [&](float& x) {
    const float before = x, h = 1e-3f;
    x = before + h;
    const double above = sum();
    x = before - h;
    const double below = sum();
    x = before;
    return (above - below) / (2 * static_cast<double>(h));
  };
  for (int i = 0; i < seats; ++i) {
    for (int k = 0; k < samples; ++k) {
      CHECK(static_cast<double>(by_q(i, k)) == doctest::Approx(difference(q(i, k))).epsilon(0.02).scale(1));
      CHECK(by_q(i, k) * by(0, k) >= 0);
    }
  }
  const std::vector<float> gradients(m.net().gradients().begin(), m.net().gradients().end());
  int wrong = 0, checked = 0;  // a weight that changes its sign, or a unit that begins to rise, has no derivative
  for (std::size_t k = 0; k < gradients.size(); k += 3, ++checked)
    wrong += std::abs(static_cast<double>(gradients[k]) - difference(m.net().parameters()[k])) > 0.01;
  CHECK(checked > 60);
  CHECK(wrong <= 2);
}

TEST_CASE("two-step game: QMIX reaches 8 where each seat acts by chance; sums and independent learners end at 7") {
  in_world([] {
    if (manta::size() > 1) return;  // it learns the same on any number of ranks
    CHECK(reached(team_options(rl::mixing::monotone, 1)) == 8);
    CHECK(reached(team_options(rl::mixing::sum, 1)) == 7);
    CHECK(reached(team_options(rl::mixing::none, 1)) == 7);
  });
}

TEST_CASE("any number of workers gives the same bits, with seats that wait, leave and are forbidden choices") {
  in_world([] {
    const std::string one = trained(for_relay(), 1);
    CHECK(trained(for_relay(), 2) == one);
    CHECK(trained(for_relay(), 3) == one);
  });
}

TEST_CASE("a checkpoint of qmix goes on bit for bit, with any number of workers") {
  in_world([] {
    const std::string file = "qmix-" + std::to_string(getpid()) + ".checkpoint";
    rl::qmix_options o = for_relay();
    rl::qmix whole(rl::environment<relay>(), o);
    for (int i = 0; i < 3; ++i) whole.train();
    whole.save(file);
    for (int i = 0; i < 2; ++i) whole.train();
    o.workers = 3;
    rl::qmix again(rl::environment<relay>(), o);
    again.load(file);
    for (int i = 0; i < 2; ++i) again.train();
    CHECK(again.save_to_bytes() == whole.save_to_bytes());
    o.mixing = rl::mixing::sum;
    rl::qmix other(rl::environment<relay>(), o);
    CHECK(contains(thrown<manta::error>([&] { other.load(file); }), "the checkpoint is of the networks"));
    std::remove(file.c_str());
  });
}

TEST_CASE("each seat's policy acts alone, in matches and among many agents") {
  in_world([] {
    if (manta::size() > 1) return;
    rl::qmix_options o = team_options(rl::mixing::monotone, 1);
    o.epsilon = 0.05;
    o.exploration_steps = 3000;
    for (const bool shared : {false, true}) {
      o.shared = shared;
      rl::qmix training(rl::environment<two_step>(), o);
      while (training.train().steps < 6000) {
      }
      rl::multi together(rl::environment<two_step>(),
                         {.policies = {{"first", rl::frozen(training.trained("first"), {.explore = false})},
                                       {"second", rl::frozen(training.trained("second"), {.explore = false})}}});
      CHECK(together.evaluate(10)["first"].mean_return == training.evaluate(10).mean_return);
      CHECK(training.evaluate(10).mean_return == 8);
      const int action = training.trained("second").act(2);
      CHECK(action == 1);
      const auto bytes = [&](const char* seat) { return manta::output::pack(training.trained(seat).network()); };
      CHECK((bytes("first") == bytes("second")) == shared);
    }
    rl::vdn masked(rl::environment<relay>(), for_relay());
    for (int i = 0; i < 4; ++i) masked.train();
    CHECK(masked.trained("helper").needs_masks());
    CHECK(!masked.trained("carrier").needs_masks());
    CHECK(masked.trained("helper").act(5, std::array{false, true, false}) == 2);
  });
}

TEST_CASE("all seats as one: what is seen, allowed and rewarded; any algorithm learns in it") {
  const rl::any_environment e = rl::joint(rl::environment<relay>());
  rl::check(e);
  CHECK(e.actions().text() == "multi_discrete{{3, 4}, {0, 1}}");
  const auto its = e.make();
  std::vector<float> seen(static_cast<std::size_t>(e.observations().size()));
  std::vector<unsigned char> allowed(static_cast<std::size_t>(e.mask_size()));
  rl::random numbers(3);
  its->reset(numbers, seen);
  its->allowed(allowed);
  REQUIRE(seen.size() == 2 + 10 + 2);
  CHECK(seen[12] == 1);
  CHECK(seen[13] == 0);
  CHECK(allowed == std::vector<unsigned char>{1, 1, 0, 0, 0, 0, 1});
  const float right = static_cast<float>(static_cast<int>(seen[1]) % 2);
  CHECK(its->step(std::array{right, 4.f}, seen).reward == 0.5);  // the mean of 1 and 0
  its->allowed(allowed);
  CHECK(seen[3] == 1);  // the helper sees 1
  CHECK(allowed == std::vector<unsigned char>{1, 1, 0, 1, 1, 1, 0});
  for (int i = 0; i < 5; ++i) its->step(std::array{0.f, i % 2 == 0 ? 1.f : 4.f}, seen);
  its->allowed(allowed);
  CHECK(allowed == std::vector<unsigned char>{0, 0, 1, 1, 1, 1, 0});  // the carrier has left
  in_world([] {
    if (manta::size() > 1) return;
    rl::ppo central(rl::joint(rl::environment<two_step>()), {.seed = 1, .fragment = 64, .rate = 1e-3});
    for (int i = 0; i < 25; ++i) central.train();
    CHECK(central.evaluate(10).mean_return == 8);
  });
}

TEST_CASE("what is wrong with the options of qmix, or with its game, is one sentence") {
  in_world([] {
    const auto said = [](const rl::any_environment& e, const rl::qmix_options& o) {
      return thrown<manta::error>([&] { rl::qmix training(e, o); });
    };
    CHECK(contains(said("CartPole-v1", {}),
                   "qmix learns in games, whose seats it knows; CartPole-v1 is an environment of one seat"));
    CHECK(contains(thrown<manta::error>([] { rl::qmix training(rl::together("Pendulum-v1", 2)); }),
                   "a joint action needs a choice of each seat; the actions of seat 0 of 2 Pendulum-v1 together are"));
    const rl::any_environment e = rl::joint(rl::environment<relay>());
    CHECK(contains(said(e, {.shared = true}), "seats share a network, and those of"));
    CHECK(contains(said(e, {.mixing_units = 0}), ".mixing_units is 0"));
    CHECK(contains(said(e, {.discount = 2}), ".discount is 2"));
    CHECK(contains(said(e, {.model = {.lstm = {8}}}), "qmix cannot use .lstm"));
    CHECK(
        contains(thrown<manta::error>([&] { rl::vdn training(e, {.mixing = rl::mixing::none}); }), "vdn sums values"));
    rl::qmix_options alone = for_relay();
    alone.mixing = rl::mixing::none;
    rl::qmix training(e, alone);
    const std::string waits = thrown<manta::error>([&] {
      for (int i = 0; i < 4; ++i) training.train();
    });
    CHECK(contains(waits, "does not act in each step, and mixing::none learns"));
    CHECK(contains(thrown<manta::error>([&] { (void)training.trained("third"); }),
                   "there is no seat \"third\" in (anonymous namespace)::relay; there are \"carrier\", \"helper\""));
  });
}
