// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games: who acts, what a class does wrong, the checker, the built-in ones, and searches without a network.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/rl/games.hpp"
#include "manta/rl/planning/dirichlet.hpp"
#include "support/text.hpp"

namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

enum class mistake {
  none,
  nobody_acts,
  acts_after_its_end,
  reward_after_its_end,
  reward_at_once,
  nan_reward,
  no_such_seat,
  outside,
  wrong_size,
  empty_mask,
  mask_for_another,
  reads_another,
  throws,
  endless,
  ends_at_once,
  outside_random,
  stale,
  forgets,
  shares
};

/// Two seats count in turn; who says 1 in the eighth step wins.
template <mistake M>
struct counting {
  int count = 0;
  double luck = 0;
  std::shared_ptr<int> shared = std::make_shared<int>(0);

  static rl::seats seats() { return {2, rl::box{{0.f, 0.f}, {9.f, 9.f}}, rl::discrete{2}}; }
  void reset(rl::random& random, rl::table& t) {
    if (M != mistake::stale) count = 0;
    luck = M == mistake::outside_random ? std::rand() % 1000 * 0.009 : random.uniform(0, 9);
    *shared = 0;
    if (M == mistake::reward_at_once) t.reward(0, 1);
    if (M == mistake::ends_at_once) t.end();
    show(t);
  }
  void step(rl::table& t) {
    const int turn = count % 2;
    const int said = t.action(M == mistake::reads_another && count == 1 ? 1 - turn : turn);
    ++count;
    ++*shared;
    if (M == mistake::throws && count == 2) throw std::runtime_error("no way");
    if (M == mistake::nobody_acts && count == 2) return;
    if (M == mistake::nan_reward && count == 2) t.reward(0, std::numeric_limits<double>::quiet_NaN());
    if (M == mistake::no_such_seat && count == 2) t.see(2, std::array<float, 2>{});
    if (M == mistake::mask_for_another && count == 2) t.allow(1, std::array<bool, 2>{true, true});
    if (count == 3 && (M == mistake::acts_after_its_end || M == mistake::reward_after_its_end)) t.end(1);
    if (M == mistake::reward_after_its_end && count == 3) t.reward(1, 1);
    if (count >= 8 && M != mistake::endless) {
      t.reward(turn, said == 1 ? 1 : -1);
      t.reward(1 - turn, said == 1 ? -1 : 1);
      return t.end();
    }
    show(t);
  }
  void show(rl::table& t) const {
    const int turn = count % 2;
    const int seen = std::min(M == mistake::shares ? *shared : count, 9);
    if (M == mistake::wrong_size && count == 2) return t.see(turn, std::array<float, 3>{});
    t.see(turn, std::array<float, 2>{static_cast<float>(M == mistake::outside && count == 2 ? 11 : seen),
                                     static_cast<float>(luck)});
    t.allow(turn, std::array<bool, 2>{true, !(M == mistake::empty_mask && count == 2)});
    if (M == mistake::empty_mask && count == 2) t.allow(turn, std::array<bool, 2>{});
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, *shared);
    if (M != mistake::forgets) archive(luck);
  }
  counting() = default;
  counting(const counting& o) : count(o.count), luck(o.luck), shared(M == mistake::shares ? o.shared : copy(o)) {}
  counting& operator=(const counting& o) {
    count = o.count;
    luck = o.luck;
    shared = M == mistake::shares ? o.shared : copy(o);
    return *this;
  }
  static std::shared_ptr<int> copy(const counting& o) { return std::make_shared<int>(*o.shared); }
};

template <mistake M>
std::string said() {
  return thrown<manta::error>([] { rl::check<counting<M>>(); });
}

/// Both choose at once, and one of them leaves after the first step.
struct meeting {
  int round = 0;
  static rl::seats seats() {
    return {{"early", rl::discrete{2}, rl::discrete{3}}, {"late", rl::discrete{2}, rl::box{{-1.f}, {1.f}}}};
  }
  void reset(rl::random&, rl::table& t) {
    round = 0;
    t.see(0, 0);
    t.see(1, 0);
  }
  void step(rl::table& t) {
    t.reward(1, static_cast<double>(t.numbers(1)[0]));
    if (round++ == 0) {
      t.reward(0, t.action(0));
      t.end(0);
      return t.see(1, 1);
    }
    t.end(1);
  }
};

/// Neither copied nor saved.
struct unique_game {
  std::unique_ptr<int> state = std::make_unique<int>(0);
  static rl::seats seats() { return {2, rl::discrete{2}, rl::discrete{2}}; }
  void reset(rl::random&, rl::table& t) { t.see(0, 0); }
  void step(rl::table& t) { t.end(); }
};

/// Rewards on the way, or results that a search cannot read.
struct paid {
  int kind = 0, count = 0;
  rl::seats seats() const { return {2, rl::discrete{2}, rl::discrete{2}}; }
  void reset(rl::random&, rl::table& t) {
    count = 0;
    t.see(0, 0);
  }
  void step(rl::table& t) {
    if (kind == 0) t.reward(0, 0.5);
    if (++count < 3) {
      t.see(count % 2, 0);
      if (kind == 2) t.see(1 - count % 2, 0);
      return;
    }
    if (kind == 1) t.reward_all(1);
    t.end();
  }
};

struct namesakes {
  static rl::seats seats() {
    return {{"left", rl::discrete{2}, rl::discrete{2}}, {"left", rl::discrete{2}, rl::discrete{2}}};
  }
  void reset(rl::random&, rl::table& t) { t.see(0, 0); }
  void step(rl::table& t) { t.end(); }
};

std::string said_by_search(int kind) {
  return thrown<manta::error>([&] {
    const rl::any_game g = rl::environment<paid>(kind);
    rl::live_game now(g);
    now.begin(rl::random());
    rl::planner(g).search(now);
  });
}

rl::live_game after(const char* game, const std::vector<int>& moves) {
  rl::live_game g(game);
  g.begin(rl::random());
  for (const int m : moves) g.play(m);
  return g;
}

constexpr std::array<std::array<std::size_t, 3>, 8> lines = {
    {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};

/// The cells by which the seat would have three in a row.
std::vector<int> threats(const rl::live_game& g, int seat) {
  std::vector<int> found;
  const std::span<const float> o = g.observation(g.mover());
  const std::size_t plane = seat == g.mover() ? 0 : 9;
  for (std::size_t a = 0; a < 9; ++a) {
    if (g.mask(g.mover())[a] == 0) continue;
    const bool wins = std::ranges::any_of(lines, [&](const auto& line) {
      return std::ranges::find(line, a) != line.end() &&
             std::ranges::all_of(line, [&](std::size_t cell) { return cell == a || o[plane + cell] > 0; });
    });
    if (wins) found.push_back(static_cast<int>(a));
  }
  return found;
}

/// All positions of tic-tac-toe that have not ended.
void add_positions(const rl::live_game& g, std::set<std::string>& known, std::vector<rl::live_game>& all) {
  if (g.is_over() || !known.insert(g.text()).second) return;
  all.push_back(g);
  for (int a = 0; a < 9; ++a) {
    if (g.mask(g.mover())[static_cast<std::size_t>(a)] == 0) continue;
    rl::live_game next = g;
    next.play(a);
    add_positions(next, known, all);
  }
}

}  // namespace

TEST_CASE("the checker finds each mistake of a game, and nothing in those that are right") {
  CHECK(said<mistake::none>().empty());
  CHECK(rl::find_mistakes(rl::any_game("TicTacToe")).empty());
  CHECK(rl::find_mistakes(rl::any_game("Connect4")).empty());
  CHECK(rl::find_mistakes(rl::environment<meeting>()).empty());
  CHECK(contains(said<mistake::nobody_acts>(), "step 2: no seat acts next, and the episode has not ended: call see("));
  CHECK(contains(said<mistake::acts_after_its_end>(), "see() was called for seat 1, for which the episode has ended"));
  CHECK(contains(said<mistake::reward_after_its_end>(), "reward() was called for seat 1, for which the episode has"));
  CHECK(contains(said<mistake::reward_at_once>(), "reset() gives seat 0 a reward, which nobody can have earned yet"));
  CHECK(contains(said<mistake::nan_reward>(), "seat 0: the reward is NaN"));
  CHECK(contains(said<mistake::no_such_seat>(), "see() was called for seat 2; there are 2 seats, from 0"));
  CHECK(contains(said<mistake::outside>(), "episode 0, step 2: seat 0 sees {11, "));
  CHECK(contains(said<mistake::wrong_size>(), "an observation has 3 numbers; observation_space() says 2"));
  CHECK(contains(said<mistake::empty_mask>(), "seat 0: the action mask allows no action"));
  CHECK(contains(said<mistake::mask_for_another>(), "allow() was called for seat 1, which does not act next"));
  CHECK(contains(said<mistake::reads_another>(), "action(0) was asked for, and seat 0 has not acted"));
  CHECK(contains(said<mistake::throws>(), "episode 0, step 1: no way"));
  CHECK(contains(said<mistake::endless>(), "no episode of random actions ended within 5000 steps"));
  CHECK(contains(said<mistake::ends_at_once>(), "reset() has ended the episode"));
  CHECK(contains(said<mistake::outside_random>(), "all randomness has to come from the rl::random"));
  CHECK(contains(said<mistake::stale>(), "reset() has to set all members anew"));
  CHECK(contains(said<mistake::forgets>(), "serialize() has to name all members that change"));
  CHECK(contains(said<mistake::shares>(), "a copy has to share nothing with its original"));
}

TEST_CASE("seats act at once, have spaces of their own, and end one by one") {
  rl::live_game g{rl::environment<meeting>()};
  g.begin(rl::random());
  CHECK((g.acts(0) && g.acts(1) && g.is_simultaneous()));
  const float two = 2, half = 0.5f;
  g.choose(0, {&two, 1});
  g.choose(1, {&half, 1});
  g.step();
  CHECK((!g.acts(0) && g.mover() == 1 && !g.is_over()));
  CHECK((g.reward(0) == 2 && g.observation(1)[0] == 1));
  g.choose(1, {&half, 1});
  g.step();
  CHECK((g.is_over() && g.mover() == -1 && g.total(0) == 2 && g.total(1) == 1));
  CHECK(contains(thrown<manta::error>([&] { g.step(); }), "the episode has ended; begin() starts the next one"));
  CHECK(contains(thrown<manta::error>([] { rl::against(rl::environment<meeting>()); }),
                 "have different spaces, and against() plays from any"));
}

TEST_CASE("players' mistakes, unknown games and copies are spoken of") {
  CHECK(contains(thrown<manta::error>([] { (void)rl::any_game(rl::environment<namesakes>()); }),
                 "namesakes has two seats of the name \"left\""));
  rl::live_game g = after("TicTacToe", {4});
  CHECK(contains(thrown<manta::error>([&] { g.play(4); }),
                 "step 1: seat 1 took the action {4}, which its mask does not"));
  CHECK(contains(thrown<manta::error>([&] { g.play(9); }), "seat 1 took the action {9}; its actions are discrete{9}"));
  const float a = 0;
  CHECK(contains(thrown<manta::error>([&] { g.choose(0, {&a, 1}); }), "seat 0, which does not act now"));
  CHECK(contains(thrown<manta::error>([] { rl::any_game("Chess"); }), "there are Connect4, TicTacToe. Give a name"));
  CHECK(contains(thrown<manta::error>([] { rl::planner{rl::environment<unique_game>()}; }),
                 "neither a copy constructor nor serialize"));
  CHECK(contains(thrown<manta::error>([] { rl::planner{rl::environment<meeting>()}; }),
                 "both seats have to have the same"));
  CHECK(contains(said_by_search(0), "there is a reward before the end"));
  CHECK(
      contains(said_by_search(1), "the seats have won 1 and 1; a search needs results from -1 to 1 that sum up to 0"));
  CHECK(contains(said_by_search(2), "several seats act at once"));
  CHECK(contains(thrown<manta::error>([] { rl::planner("Connect4", {.simulations = 0}); }), ".simulations is 0"));
  rl::live_game loaded("TicTacToe");
  loaded.load(g.save());
  CHECK((loaded.text() == g.text() && loaded.mover() == 1));
}

TEST_CASE("Connect-4 knows rows, columns, diagonals, full columns and full boards") {
  const auto winner = [](const std::vector<int>& moves) {
    const rl::live_game g = after("Connect4", moves);
    return !g.is_over() ? 0 : static_cast<int>(g.total(0)) * 10 + static_cast<int>(g.steps());
  };
  CHECK(winner({0, 1, 0, 1, 0, 1, 0}) == 17);
  CHECK(winner({3, 3, 4, 4, 5, 5}) == 0);
  CHECK(winner({3, 3, 4, 4, 5, 5, 6}) == 17);
  CHECK(winner({0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3}) == 21);
  CHECK(winner({6, 5, 5, 4, 4, 3, 4, 3, 3, 0, 3}) == 21);
  CHECK(winner({0, 6, 0, 6, 1, 6, 1, 6}) == -2);
  CHECK(winner({5, 5, 5, 6, 6, 6, 0, 0, 0}) == 0);  // no line goes from one column to the next
  const rl::live_game full = after("Connect4", {2, 2, 2, 2, 2, 2});
  CHECK((full.mask(0)[2] == 0 && full.mask(0)[3] == 1));
  std::vector<int> board = {0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 2, 3, 2, 3, 3, 2, 3, 2, 2,
                            3, 2, 3, 4, 5, 4, 5, 5, 4, 5, 4, 4, 5, 4, 5, 6, 6, 6, 6, 6};
  CHECK(!after("Connect4", board).is_over());
  board.push_back(6);
  CHECK((after("Connect4", board).is_over() && after("Connect4", board).total(0) == 0));
}

TEST_CASE("a search without a network finds each win and each block of tic-tac-toe, and its visits add up") {
  std::set<std::string> known;
  std::vector<rl::live_game> all;
  add_positions(after("TicTacToe", {}), known, all);
  CHECK(all.size() == 4520);  // 5478 less those that have ended
  std::vector<const rl::live_game*> positions;
  for (const rl::live_game& g : all) positions.push_back(&g);
  rl::planner p("TicTacToe", {.simulations = 200});
  const std::vector<rl::searched> found = p.search(positions, std::vector<rl::random>(all.size()));
  int wrong = 0, proven = 0, sums = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const rl::live_game& g = all[i];
    const std::vector<int> wins = threats(g, g.mover()), blocks = threats(g, 1 - g.mover());
    const auto has = [&](const std::vector<int>& cells) {
      return std::ranges::find(cells, found[i].best) != cells.end();
    };
    if (!wins.empty()) {
      wrong += !has(wins) || found[i].value != 1;
    } else if (blocks.size() == 1) {
      wrong += !has(blocks);
    }
    int visits = 0;
    for (const int v : found[i].visits) visits += v;
    sums += found[i].is_proven ? visits <= 200 : visits == 200;
    proven += found[i].is_proven;
  }
  CHECK(wrong == 0);
  CHECK(sums == 4520);
  CHECK(proven > 3000);
}

TEST_CASE("a search in several positions finds what it finds in each, saved planners too") {
  rl::planner p("Connect4", {.simulations = 60, .noise = 0.25, .rollouts = true});
  const std::vector<rl::live_game> all = {after("Connect4", {}), after("Connect4", {3, 3}),
                                          after("Connect4", {3, 2, 3, 2, 3})};
  const std::vector<rl::random> numbers = {rl::random(1), rl::random(2), rl::random(3)};
  std::vector<const rl::live_game*> positions;
  for (const rl::live_game& g : all) positions.push_back(&g);
  const std::vector<rl::searched> found = p.search(positions, numbers);
  rl::planner same;
  manta::output::unpack(manta::output::pack(p), same);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(same.search(all[i], numbers[i]).visits == found[i].visits);
  CHECK(found[2].best == 3);  // else three of seat 0 become four
  CHECK(p.answer({{0, 1, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 1, 0}}) == std::vector<int>{0, -1});
}

TEST_CASE("shares of a Dirichlet distribution have its mean and its variance") {
  for (const double alpha : {0.3, 1., 10.}) {
    rl::random numbers(5);
    double mean = 0, square = 0;
    constexpr int count = 20'000;
    for (int k = 0; k < count; ++k) {
      std::array<float, 4> shares{};
      rl::detail::draw_dirichlet(alpha, numbers, shares);
      const auto x = static_cast<double>(shares[1]);
      mean += x / count;
      square += x * x / count;
    }
    CHECK(mean == doctest::Approx(0.25).epsilon(0.03));
    CHECK(square - mean * mean == doctest::Approx(0.25 * 0.75 / (4 * alpha + 1)).epsilon(0.05));
  }
}
