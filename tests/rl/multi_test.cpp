// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several policies that learn in one game: that one seat is what PPO is, that the number of workers and ranks changes
// nothing, what is learnt, checkpoints, snapshots, and what goes wrong.
#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/log.hpp"
#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/multi.hpp"
#include "support/matrix_games.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::thrown;
using matrix_games::hands;
using matrix_games::rock_paper_scissors;
using matrix_games::two_step;

namespace {

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

namespace {

/// Looks at the steps of crowd's seats, and throws where they are not what the game has given.
struct crowd_watch : rl::collection {
  int seat = 0;
  explicit crowd_watch(int s = 0) : seat(s) {}

  static void require(bool right, const char* what) {
    if (!right) throw std::runtime_error(what);
  }
  void steps_made(const rl::made_steps& s) const override {
    for (std::size_t t = 0; t < s.rewards.size(); ++t) {
      const auto k = static_cast<Eigen::Index>(t);
      const bool ends = s.terminated[t] || s.truncated[t];
      if (seat == 1 && !ends) require(s.next(1, k) - s.observations(1, k) == 3, "slow sees each third state");
      if (seat == 2) require(ends == (s.observations(14, k) == 1), "guest's last turn is the fourteenth step");
      if (seat == 2 && ends) require(s.next(15, k) == 1, "guest sees where it is cut off");
    }
  }
  void estimate(const rl::valued_steps& s, std::span<float> advantages) const override {
    rl::estimate_advantages(s, advantages);
    const double g = s.discount, waiting = seat == 1 ? 0.1 * (1 + g + g * g) : 0;
    for (std::size_t t = 0; t < s.rewards.size(); ++t) {
      require(std::abs(s.discounts[t] - (seat == 1 ? g * g * g : g)) < 1e-12, "discounts are those of all steps");
      const double own = s.rewards[t] - waiting;
      if (seat != 0) require(std::abs(own * (own - 1)) < 1e-9, "rewards of the steps of a turn are summed");
      if (seat == 2) require(!s.terminated[t], "guest is cut off");
      if (seat == 2 && s.truncated[t]) require(s.final_values[t] != 0, "its last state has a value");
      if (seat == 1) require(!s.truncated[t], "slow's episodes end");
    }
  }
};

/// Two seats in turn; cut off after the seventh step, when the next one has seen nothing.
struct chopped {
  int count = 0;
  static rl::seats seats() { return {2, rl::discrete{8}, rl::discrete{2}}; }
  void reset(rl::random&, rl::table& t) {
    count = 0;
    t.see(0, 0);
  }
  void step(rl::table& t) {
    t.reward(count % 2, 1);
    if (++count == 7) return t.truncate();
    t.see(count % 2, count);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count);
  }
};
struct chopped_watch : rl::collection {
  void estimate(const rl::valued_steps& s, std::span<float> advantages) const override {
    rl::estimate_advantages(s, advantages);
    std::size_t begin = 0;
    for (std::size_t t = 0; t < s.rewards.size(); ++t) {
      if (!s.truncated[t]) continue;
      const std::size_t steps = t + 1 - begin;  // seat 0 has acted four times, seat 1 three times
      if (begin > 0 && steps != 3 && steps != 2) throw std::runtime_error("the open step is left out");
      if (s.final_values[t] == 0) throw std::runtime_error("the step before has a value behind it");
      begin = t + 1;
    }
    if (begin == 0) throw std::runtime_error("episodes are cut off");
  }
};

/// The reward is a number that only the state of the whole tells.
struct hidden {
  static rl::seats seats() { return {2, rl::discrete{1}, rl::discrete{2}}; }
  double luck = 0;
  void reset(rl::random& numbers, rl::table& t) {
    luck = numbers.uniform(-1, 1);
    t.see(0, 0);
    t.see(1, 0);
    t.state(luck);
  }
  void step(rl::table& t) {
    t.reward_all(luck);
    t.end();
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(luck);
  }
};

struct first_or {
  std::string other;
  std::string operator()(int seat, std::uint64_t episode) const {
    return seat == static_cast<int>(episode % 2) ? "learner" : other;
  }
};
/// Anyone of a league, episode by episode.
struct league {
  std::vector<std::string> rivals;
  std::string operator()(int seat, std::uint64_t episode) const {
    if (seat == static_cast<int>(episode % 2)) return "learner";
    return rivals[episode / 2 % rivals.size()];
  }
};

/// Always the same hand.
struct stubborn : rl::seat_player {
  explicit stubborn(int hand) : hand_(hand) {}
  void act(const rl::live_game&, int, rl::random&, std::span<float> action) override {
    if (hand_ > 2) throw std::runtime_error("no such hand");
    action[0] = static_cast<float>(hand_);
  }

 private:
  int hand_;
};

}  // namespace

TEST_CASE("a step of a seat goes from turn to turn: rewards are summed, discounts multiply, ends are where they were") {
  in_world([] {
    const auto watched = [](auto w) {
      rl::ppo_options o = little;
      o.normalise_rewards = false;
      o.collection = w;
      return o;
    };
    rl::multi crowded(rl::environment<crowd>(), {.seed = 2,
                                                 .environments = 4,
                                                 .fragment = 41,
                                                 .policies = {{"steady", watched(rl::own<crowd_watch>(0))},
                                                              {"slow", watched(rl::own<crowd_watch>(1))},
                                                              {"guest", watched(rl::own<crowd_watch>(2))}}});
    std::uint64_t turns = 0;
    for (int i = 0; i < 5; ++i) turns = crowded.train()["slow"].steps;
    // 205 steps of each game: six episodes, and 25 steps more, in which the ninth turn is open.
    CHECK(turns == 4 * (6 * 10 + 8));
    rl::multi cut(
        rl::environment<chopped>(),
        {.seed = 2, .environments = 3, .fragment = 70, .policies = {{"all", watched(rl::own<chopped_watch>())}}});
    for (int i = 0; i < 3; ++i) cut.train();
  });
}

TEST_CASE("a checkpoint goes on bit for bit, with snapshots, a map, and any number of workers") {
  in_world([] {
    const auto g = rl::environment<rock_paper_scissors>();
    const auto make = [&](int workers) {
      return rl::multi_options{.workers = workers,
                               .seed = 7,
                               .environments = 5,
                               .fragment = 40,
                               .policies = {{"learner", little}, {"rock", rl::frozen(rl::own<stubborn>(0))}},
                               .map = rl::own<first_or>("rock")};
    };
    rl::multi whole(g, make(2));
    whole.train();
    const std::string name = whole.snapshot("learner");
    CHECK(name == "learner-1");
    CHECK(whole.names() == std::vector<std::string>{"learner", "rock", "learner-1"});
    whole.map(rl::own<league>(std::vector<std::string>{"rock", name}));
    whole.train();
    const std::string middle = whole.save_to_bytes();
    rl::multi_report expected, got;
    for (int i = 0; i < 2; ++i) expected = whole.train();

    for (const int workers : {1, 3}) {
      rl::multi again(g, make(workers));
      again.load_from_bytes(middle);
      for (int i = 0; i < 2; ++i) got = again.train();
      CHECK(again.save_to_bytes() == whole.save_to_bytes());
      CHECK(got["learner"].mean_return == expected["learner"].mean_return);
      CHECK(again.evaluate(40, {.explore = true})[name].mean_return ==
            whole.evaluate(40, {.explore = true})[name].mean_return);
    }
    // Steps under way are part of it.
    rl::multi seats(rl::environment<crowd>(), for_crowd());
    seats.train();
    const std::string file = "multi-" + std::to_string(getpid()) + ".checkpoint";
    seats.save(file);
    seats.train();
    rl::multi loaded(rl::environment<crowd>(), for_crowd());
    loaded.load(file);
    std::remove(file.c_str());
    loaded.train();
    CHECK(loaded.save_to_bytes() == seats.save_to_bytes());

    CHECK(contains(thrown<manta::error>([&] { loaded.load_from_bytes(middle); }),
                   "the checkpoint is of the game matrix_games::rock_paper_scissors; this training's are"));
    rl::multi_options other = make(1);
    other.policies[0].second = rl::ppo_options{.model = {.hidden = {8}}};
    rl::multi smaller(g, other);
    CHECK(
        contains(thrown<manta::error>([&] { smaller.load_from_bytes(middle); }), "the checkpoint is of the policies"));
    smaller.train();
  });
}

TEST_CASE("rock, paper, scissors: two policies that learn play each hand a third of the time, in the mean") {
  in_world([] {
    const rl::ppo_options o{.rate = 3e-3, .epochs = 4, .entropy = 0.1, .model = {.hidden = {16}}};
    rl::multi training(rl::environment<rock_paper_scissors>(),
                       {.workers = 2, .seed = 1, .fragment = 32, .policies = {{"0", o}, {"1", o}}});
    constexpr int iterations = 300;
    std::array<std::array<double, 3>, 2> mean{};
    double most = 0;
    for (int i = 0; i < iterations; ++i) {
      training.train();
      for (const std::size_t seat : {0U, 1U}) {
        const auto now = hands(training.trained(std::to_string(seat)));
        for (std::size_t h = 0; h < 3; ++h) {
          mean[seat][h] += now[h] / iterations;
          most = std::max(most, now[h]);
        }
      }
    }
    for (const auto& seat : mean) {
      for (const double share : seat) CHECK(std::abs(share - 1. / 3) < 0.05);
    }
    CHECK(most > 0.7);  // they do not only stay where they began
  });
}

TEST_CASE("a league: who has beaten rock loses to what beats that, unless it has met both") {
  in_world([] {
    const auto g = rl::environment<rock_paper_scissors>();
    const rl::ppo_options o{.rate = 3e-3, .entropy = 0.02, .model = {.hidden = {16}}};
    rl::multi training(g, {.workers = 2,
                           .seed = 1,
                           .fragment = 32,
                           .policies = {{"learner", o}, {"rock", rl::frozen(rl::own<stubborn>(0))}},
                           .map = rl::own<first_or>("rock")});
    for (int i = 0; i < 15; ++i) training.train();
    CHECK(training.evaluate(100)["learner"].mean_return > 0.95);  // paper
    CHECK(training.evaluate(100)["rock"].mean_return < -0.95);
    CHECK(hands(training.trained("learner"))[1] > 0.9);
    const std::string paper = training.snapshot("learner");
    training.map(rl::own<league>(std::vector<std::string>{paper}));
    for (int i = 0; i < 45; ++i) training.train();
    CHECK(hands(training.trained("learner"))[2] > 0.9);  // scissors
    CHECK(hands(training.trained(paper))[1] > 0.9);      // stays as it was
    const rl::match m = rl::play(g, training.trained("learner"), training.trained(paper), 100);
    CHECK(m.won > 95);
    const std::string scissors = training.snapshot("learner");
    CHECK(scissors == "learner-2");
    // A frozen policy may come from elsewhere, and from files.
    const std::string file = "multi-" + std::to_string(getpid()) + ".policy";
    training.trained("learner").save(file);
    rl::multi other(
        g, {.seed = 2, .policies = {{"learner", o}, {"rival", rl::frozen(file)}}, .map = rl::own<first_or>("rival")});
    std::remove(file.c_str());
    for (int i = 0; i < 15; ++i) other.train();
    CHECK(hands(other.trained("learner"))[0] > 0.9);  // rock
    CHECK(bytes_of(other.trained("rival")) == bytes_of(training.trained("learner")));
  });
}

TEST_CASE("a critic that reads the state of the whole knows what seats do not see") {
  in_world([] {
    const rl::ppo_options o{.rate = 1e-3, .normalise_rewards = false, .model = {.hidden = {16}}};
    const auto loss = [&](bool central) {
      rl::multi training(rl::environment<hidden>(),
                         {.seed = 1, .fragment = 64, .policies = {{"all", o}}, .central_values = central});
      double last = 0;
      for (int i = 0; i < 12; ++i) last = training.train()["all"].learner.at("value_loss");
      (void)training.trained("all").act(0);  // acts without that state
      return last;
    };
    CHECK(loss(false) > 0.25);  // the variance, 1 / 3
    CHECK(loss(true) < 0.02);
  });
}

TEST_CASE("policies with a central critic reach 8 in the two-step game") {
  in_world([] {
    const rl::ppo_options o{.rate = 1e-3, .entropy = 0.01, .model = {.hidden = {32}}};
    rl::multi training(
        rl::environment<two_step>(),
        {.workers = 2, .seed = 1, .fragment = 64, .policies = {{"first", o}, {"second", o}}, .central_values = true});
    rl::multi_report r;
    for (int i = 0; i < 20; ++i) r = training.train();
    CHECK(r["first"].mean_return > 7.5);
    CHECK(training.evaluate(10)["second"].mean_return == 8);
  });
}

TEST_CASE("what is wrong with the options of multi is one sentence") {
  in_world([] {
    const auto said = [](const rl::any_game& g, const rl::multi_options& o) {
      return thrown<manta::error>([&] { rl::multi training(g, o); });
    };
    const auto rps = rl::environment<rock_paper_scissors>();
    CHECK(contains(said(rps, {}), "multi has no policies; name at least one"));
    CHECK(contains(said(rps, {.policies = {{"a", little}, {"a", little}}}), "two policies have the name \"a\""));
    CHECK(contains(said(rps, {.policies = {{"a", rl::ppo_options{.workers = 4}}}}),
                   "the policy \"a\" has .workers = 4; all policies of multi have the same: give it beside .policies"));
    CHECK(
        contains(said(rps, {.policies = {{"a", rl::ppo_options{.model = {.lstm = {8}}}}}}), "multi cannot use .lstm"));
    CHECK(contains(said(rps, {.policies = {{"a", rl::ppo_options{.discount = 2}}}}), "policy \"a\": .discount is 2"));
    CHECK(contains(said(rps, {.policies = {{"a", little}, {"b", little}}}),
                   "no policy has the name of seat 0, \"0\"; there are \"a\", \"b\". Give .map"));
    CHECK(contains(said(rps, {.policies = {{"learner", little}}, .map = rl::own<first_or>("nobody")}),
                   "the policy \"nobody\"; there are \"learner\""));
    CHECK(contains(said(rl::environment<crowd>(), {.policies = {{"all", little}}}),
                   "the policy \"all\" acts from the seats 0 and 1, whose spaces differ"));
    CHECK(contains(said(rps, {.policies = {{"0", little}, {"1", rl::frozen(rl::ppo("CartPole-v1").trained())}}}),
                   "the policy \"1\", which was trained in CartPole-v1, fits no seat of"));
    CHECK(contains(said(rps, {.environments = 0, .policies = {{"a", little}}}), ".environments is 0"));

    rl::multi training(rps, {.policies = {{"learner", little}, {"odd", rl::frozen(rl::own<stubborn>(3))}},
                             .map = rl::own<first_or>("odd")});
    const std::string odd = thrown<manta::error>([&] { training.train(); });
    CHECK(contains(odd, "manta: rl: multi, iteration 1: game 0 ("));
    CHECK(contains(odd, "stubborn(3) throws: no such hand"));
    CHECK(contains(thrown<manta::error>([&] { (void)training.trained("walker"); }),
                   "there is no policy \"walker\"; there are \"learner\", \"odd\""));
    CHECK(contains(thrown<manta::error>([&] { (void)training.trained("odd"); }), "which was not trained"));
    CHECK(contains(thrown<manta::error>([&] { training.map(rl::own<first_or>("nobody")); }), "\"nobody\""));
  });
}

namespace {

/// Its state of the whole grows, comes late or is NaN, or a seat is cut off twice.
struct grows {
  int kind = 0, count = 0;
  static rl::seats seats() { return {2, rl::discrete{5}, rl::discrete{2}}; }
  void reset(rl::random&, rl::table& t) {
    count = 0;
    if (kind != 4) t.state(std::vector<float>(2));
    show(t);
  }
  void step(rl::table& t) {
    if (++count == 4) return t.end();
    if (kind == 4 && count == 2) t.state(std::array{1, 2});
    if (kind == 5 && count == 2) t.state(std::array{0.F, std::nanf("")});
    if (kind == 0 && count == 2) t.state(std::vector<float>(3));
    if (kind == 1 && count >= 2) t.truncate(1);
    if (kind == 2 && count == 2) {
      t.see(1, 7);
      t.truncate(1);
    }
    show(t);
  }
  void show(rl::table& t) const { t.see(0, count); }
  std::map<std::string, double> figures() const { return {{"count", count}}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(kind, count);
  }
};

}  // namespace

TEST_CASE("the checker finds what is wrong at the table of many agents, and so does a training") {
  rl::check<crowd>();
  rl::check<two_step>();
  rl::check(rl::together("CartPole-v1", 3));
  rl::check<grows>(3);
  const auto said = [](int kind) { return thrown<manta::error>([&] { rl::check<grows>(kind); }); };
  CHECK(
      contains(said(0), "episode 0, step 1: state() was given 3 numbers, and 2 before; a state has as many each time"));
  CHECK(contains(said(5), "episode 0, step 2: state() was given {0, nan}, in which a number is not finite"));
  CHECK(contains(said(1), "episode 0, step 2: truncate() was called for seat 1, for which the episode has ended"));
  CHECK(
      contains(thrown<manta::error>([] { (void)rl::together("CartPole-v1", 65); }), "together was asked for 65 seats"));
  in_world([] {
    const auto train = [](int kind) {
      rl::multi training(rl::environment<grows>(kind),
                         {.environments = 2, .fragment = 16, .policies = {{"all", little}}});
      return training.train();
    };
    CHECK(contains(thrown<manta::error>([&] { train(4); }),
                   "step 2: state() is called in step() first; reset() gives the first state"));
    const std::string unseen = thrown<manta::error>([&] { train(2); });
    CHECK(contains(
        unseen,
        "manta: rl: multi, iteration 1: game 0 ((anonymous namespace)::grows), episode 0, step 2: seat 1 sees"));
    CHECK(contains(unseen, "which is not in its space of observations"));
    CHECK(train(3).figures.at("count") == 4);
  });
}

TEST_CASE("four poles teach one policy with a third of the steps of one") {
  in_world([] {
    if (manta::size() > 1) return;  // it learns the same on any number of ranks
    const auto steps = [](int seats) {
      rl::multi training(rl::together("CartPole-v1", seats),
                         {.seed = 4, .fragment = 256 / seats, .policies = {{"pole", rl::ppo_options{}}}});
      rl::multi_report r;
      do r = training.train();
      while (r["pole"].mean_return < 450 && r.steps < 150'000);
      CHECK(r["pole"].mean_return >= 450);
      return static_cast<double>(r.steps);
    };
    CHECK(steps(4) <= 1.3 / 4 * steps(1));
  });
}

TEST_CASE("reports name policies, and policies say whether they need masks") {
  in_world([] {
    rl::multi training("TicTacToe", {.seed = 1, .fragment = 64, .policies = {{"both", little}}});
    const rl::multi_report r = training.train();
    CHECK(r["both"].episodes == 2 * r.episodes);
    CHECK(r["both"].mean_return == 0);  // what one seat wins, the other one loses
    CHECK(r["both"].max_return == 1);
    CHECK(contains(thrown<manta::error>([&] { (void)r["x"]; }), "no policy \"x\"; there are \"both\""));
    std::ostringstream text;
    text << r;
    CHECK(contains(text.str(), "\n  both: iteration 1, "));
    CHECK(training.trained("both").needs_masks());
    CHECK(rl::play("TicTacToe", training.trained("both"), {}, 50).games == 50);
    rl::multi free(rl::environment<rock_paper_scissors>(), {.fragment = 16, .policies = {{"both", little}}});
    free.train();
    CHECK(!free.trained("both").needs_masks());
    rl::multi idle("TicTacToe", {.fragment = 16,
                                 .policies = {{"learner", little}, {"other", little}, {"third", little}},
                                 .map = rl::own<first_or>("other")});
    CHECK(idle.train()["third"].mean_return == rl::no_return);  // no seat was its own, so it has learnt nothing
    CHECK(idle.train()["third"].steps == 0);
    CHECK(idle.train()["other"].steps > 0);
    CHECK(contains(thrown<manta::error>([&] {
                     (void)rl::evaluate(free.trained("both").acting().environment(), free.trained("both"), 1);
                   }),
                   "there are only spaces here"));
  });
}

TEST_CASE("the page of a training shows all policies and matches, and a game becomes a film") {
  in_world([] {
    if (manta::size() > 1) return;
    const std::string folder = "multi-log-" + std::to_string(getpid());
    {
      rl::multi training("TicTacToe", {.seed = 1, .fragment = 64, .policies = {{"0", little}, {"1", little}}});
      rl::log log(folder, {.progress = false});
      for (int i = 0; i < 2; ++i) log(training.train());
      log.match("0 and chance", rl::play("TicTacToe", training.trained("0"), {}, 20));
      rl::film(folder + "/game.html", "TicTacToe", training.trained("0"), training.trained("1"), {.title = "a < b"});
    }
    const std::string page = manta::output::read_file(folder + "/report.html"),
                      table = manta::output::read_file(folder + "/progress.csv"),
                      film = manta::output::read_file(folder + "/game.html");
    for (const char* part : {"mean_return", "Match 0 and chance", "Score of matches", "entropy"})
      CHECK(contains(page, part));
    for (const char* column : {"0/mean_return", "1/mean_return", "0/steps", "match/0 and chance/won"})
      CHECK(contains(table, column));
    for (const char* part : {"kind: \"board\"", "a &lt; b", "[[\"...\",\"...\",\"...\"],[\"", "rewards: [0,"})
      CHECK(contains(film, part));
    CHECK(contains(thrown<manta::error>([&] {
                     rl::film(folder + "/no.html", rl::environment<rock_paper_scissors>(), {}, rl::game_policy());
                   }),
                   "there are no pictures of"));
    std::filesystem::remove_all(folder);
  });
}
