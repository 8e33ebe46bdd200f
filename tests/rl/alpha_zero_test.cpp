// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// alpha_zero: what it learns, that the number of workers and ranks changes nothing, checkpoints; matches.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "manta/rl/algorithms/ppo.hpp"
#include "manta/rl/alpha_zero.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

/// The first action that is allowed.
struct left_most : rl::seat_player {
  void act(const rl::live_game& now, int seat, rl::random&, std::span<float> action) override {
    const rl::mask_view allowed = now.mask(seat);
    action[0] = static_cast<float>(std::ranges::find(allowed, 1) - allowed.begin());
  }
};

struct wrong_player : rl::seat_player {
  explicit wrong_player(int kind) : kind_(kind) {}
  void act(const rl::live_game&, int, rl::random&, std::span<float> action) override {
    if (kind_ == 0) throw std::runtime_error("no idea");
    action[0] = 12;
  }

 private:
  int kind_;
};

/// Ends only by a limit.
struct endless_game {
  int turn = 0;
  static rl::seats seats() { return {2, rl::discrete{2}, rl::discrete{2}}; }
  void reset(rl::random&, rl::table& t) {
    turn = 0;
    t.see(turn, 0);
  }
  void step(rl::table& t) {
    turn = 1 - turn;
    t.see(turn, turn);
  }
};

const rl::alpha_zero_options small = {
    .seed = 3, .games = 70, .simulations = 12, .batch = 64, .model = {.hidden = {32}}};

/// Everything that a training of some iterations leaves.
std::string trained_by(int workers, int iterations = 2) {
  rl::alpha_zero_options o = small;
  o.workers = workers;
  rl::alpha_zero a("TicTacToe", o);
  for (int i = 0; i < iterations; ++i) a.train();
  return a.save_to_bytes();
}

template <class F>
auto alone(F&& f) {
  manta::runtime rt(MPI_COMM_SELF, {});
  return rt.run(f);
}

std::string text_of(const rl::match& m) {
  std::ostringstream out;
  out << m << ", " << m.won_first << ' ' << m.lost_first;
  return out.str();
}

rl::match rollouts_against_left_most() {
  return rl::play("Connect4", rl::planner("Connect4", {.simulations = 30, .rollouts = true}), rl::own<left_most>(), 70,
                  {.seed = 4});
}

}  // namespace

TEST_CASE("alpha_zero is the same for any number of workers and ranks") {
  const std::string expected = alone([] { return trained_by(1); });
  in_world([&] {
    for (const int workers : {1, 2, 4}) CHECK(trained_by(workers) == expected);
  });
}

TEST_CASE("alpha_zero has a name, under which it learns in the game of rl::against") {
  in_world([] {
    rl::register_algorithm<rl::alpha_zero>("alpha_zero");
    const rl::any_environment e = rl::against("TicTacToe");
    const auto named =
        rl::make_algorithm("alpha_zero", e, {{"seed", "4"}, {"games", "32"}, {"simulations", "5"}, {"hidden", "16"}});
    rl::alpha_zero same("TicTacToe", {.seed = 4, .games = 32, .simulations = 5, .model = {.hidden = {16}}});
    named->train();
    same.train();
    CHECK(named->save_to_bytes() == same.save_to_bytes());
    const auto refused = [](const rl::any_environment& in) {
      return thrown<manta::error>([&] { rl::make_algorithm("alpha_zero", in); });
    };
    CHECK(
        contains(refused("CartPole-v1"), "alpha_zero learns in games, where it plays against itself; CartPole-v1 is"));
    CHECK(contains(refused(rl::against("TicTacToe", rl::own<left_most>())), "or rl::against(..) without a rival"));
  });
}

TEST_CASE("alpha_zero learns tic-tac-toe") {
  in_world([] {
    rl::alpha_zero a("TicTacToe", {.workers = manta::size(), .seed = 1});
    const double before = rl::play("TicTacToe", a.trained(), {}, 200).score();
    rl::report r;
    for (int i = 0; i < (manta::size() == 1 ? 25 : 4); ++i) r = a.train();
    CHECK(r.episodes == r.iteration * 128);
    CHECK(r.steps > r.episodes * 5);
    CHECK(r.learner.at("policy_loss") >= r.learner.at("search_entropy"));
    if (manta::size() > 1) return;  // it learns the same
    CHECK(r.learner.at("policy_loss") < 1.4);
    CHECK(rl::play("TicTacToe", a.trained(), {}, 200).score() > before + 0.2);
    const rl::match m = rl::play("TicTacToe", a.trained(25), {}, 200);
    CHECK(m.score() > 0.9);
    CHECK(m.lost <= 4);
    CHECK(m.games == 200);
    CHECK(m.won_first + m.drawn_first + m.lost_first == 100);
    CHECK(m.likely_score().low < m.score());
    CHECK(m.likely_score().high > m.score());
    CHECK(a.evaluate(50).mean_return > 0.6);  // without a search, against chance
    rl::live_game g("TicTacToe");
    g.begin(rl::random());
    const int first = a.act(std::vector<float>(g.observation(0).begin(), g.observation(0).end()), g.mask(0));
    CHECK((first >= 0 && first < 9));
  });
}

TEST_CASE("a training of alpha_zero that is saved and loaded goes on bit for bit") {
  in_world([] {
    const std::string expected = trained_by(2, 3);
    rl::alpha_zero_options o = small;
    o.seed = 9;
    rl::alpha_zero b("TicTacToe", o);
    b.load_from_bytes(trained_by(1, 2));
    b.train();
    CHECK(b.save_to_bytes() == expected);
    const rl::trained_policy p = rl::load_policy_from_bytes(expected);
    CHECK(text_of(rl::play("TicTacToe", p, {}, 40)) == text_of(rl::play("TicTacToe", b.trained(), {}, 40)));
    o.begin_with = p;
    rl::alpha_zero c("TicTacToe", o);
    CHECK(text_of(rl::play("TicTacToe", c.trained(10), p, 40)) == text_of(rl::play("TicTacToe", b.trained(10), p, 40)));
    rl::alpha_zero d("Connect4", small);
    CHECK(contains(thrown<manta::error>([&] { d.load_from_bytes(expected); }),
                   "the checkpoint is of the environment TicTacToe against chance; this algorithm's is Connect4"));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::play("Connect4", p, {}, 2); }),
                   "a policy that was trained in TicTacToe against chance cannot play Connect4"));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::play("Connect4", b.trained(5), {}, 2); }),
                   "a search of manta::rl::tic_tac_toe"));
  });
}

TEST_CASE("matches are the same for any number of ranks, and colours change") {
  const std::string expected = alone([] { return text_of(rollouts_against_left_most()); });
  in_world([&] {
    const rl::match m = rollouts_against_left_most();
    CHECK(text_of(m) == expected);
    CHECK(m.won > 60);
    const rl::match first_wins = rl::play("Connect4", rl::own<left_most>(), rl::own<left_most>(), 10);
    CHECK((first_wins.won + first_wins.lost == 10 && first_wins.won == 5 && first_wins.won_first % 5 == 0));
  });
}

TEST_CASE("what players, games and options do wrong is said in one sentence") {
  in_world([] {
    const auto said = [](const rl::any_game& g, const rl::game_policy& p) {
      return thrown<manta::error>([&] { (void)rl::play(g, p, {}, 2); });
    };
    CHECK(contains(said("TicTacToe", rl::own<wrong_player>(0)), "game 0 (TicTacToe), episode 0, step 0: "));
    CHECK(contains(said("TicTacToe", rl::own<wrong_player>(0)), "wrong_player(0) throws: no idea"));
    CHECK(contains(said("TicTacToe", rl::own<wrong_player>(1)), "took the action {12}; its actions are discrete{9}"));
    CHECK(contains(said(rl::environment<endless_game>(), {}), "give the game a limit by with_time_limit(steps)"));
    const rl::any_game limited = rl::environment<endless_game>().with_time_limit(6);
    CHECK(rl::play(limited, {}, {}, 10).drawn == 10);
    rl::alpha_zero_options o = small;
    o.games = 4;
    CHECK(rl::alpha_zero(limited, o).train().mean_length == 6);
    const auto refused = [](rl::alpha_zero_options options) {
      return thrown<manta::error>([&] { rl::alpha_zero("TicTacToe", options); });
    };
    CHECK(contains(refused({.workers = 0}), ".workers is 0; at least one is needed"));
    CHECK(contains(refused({.simulations = 0}), ".simulations is 0; a search needs at least one"));
    CHECK(contains(refused({.noise = 2}), ".noise is 2; it has to be from 0 to 1"));
    CHECK(contains(refused({.temperature = 0}), ".temperature is 0; it has to be positive"));
    CHECK(contains(refused({.model = {.lstm = {8}}}), "alpha_zero cannot use .lstm"));
  });
}

TEST_CASE("an algorithm for one seat learns against a player") {
  in_world([] {
    if (manta::size() > 1) return;
    const rl::any_environment e = rl::against("TicTacToe", rl::own<left_most>());
    rl::check(e);
    rl::ppo a(e, {.seed = 1, .environments = 8, .fragment = 128});
    for (int i = 0; i < 6; ++i) a.train();
    CHECK(a.evaluate(50).mean_return > 0.5);
    CHECK(rl::play("TicTacToe", a.trained(), rl::own<left_most>(), 20).score() > 0.7);
  });
}
