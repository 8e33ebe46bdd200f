// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Grid worlds: exact probabilities, the map as it is drawn, and games that a program in Python, written apart from the
// published rules, played.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>
#include <vector>

#include "manta/error.hpp"
#include "manta/rl/worlds/breakout.hpp"
#include "manta/rl/worlds/classic.hpp"
#include "manta/rl/worlds/taxi.hpp"

#if __has_include(<box2d/box2d.h>)
#include "manta/rl/lunar_lander.hpp"
#endif

namespace rl = manta::rl;

TEST_CASE("Catch rewards the paddle below the ball, and only at the end") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    rl::random numbers(seed);
    rl::catch_ball e;
    const auto first = e.reset(numbers);
    int column = -1;
    for (int c = 0; c < 5; ++c)
      if (first[static_cast<std::size_t>(c)] == 1) column = c;
    REQUIRE(column >= 0);
    CHECK(first[45 + 2] == 1);
    const bool away = seed % 2 == 1;
    for (int paddle = 2, i = 1; i <= 9; ++i) {
      const int target = away ? (column + 2) % 5 : column;
      const int move = target < paddle ? -1 : target > paddle ? 1 : 0;
      const auto s = e.step(move + 1);
      paddle += move;
      CHECK(s.terminated == (i == 9));
      CHECK(s.reward == (i < 9 ? 0 : away ? -1 : 1));
    }
  }
}

TEST_CASE("FrozenLake: a good policy reaches the goal as often as the exact probabilities say") {
  const int policy[] = {0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0};
  rl::frozen_lake e;
  const int episodes = 20000;
  int reached = 0;
  for (int k = 0; k < episodes; ++k) {
    rl::random numbers(5, static_cast<std::uint64_t>(k));
    int at = e.reset(numbers);
    for (int i = 0; i < 100; ++i) {
      const auto s = e.step(policy[at]);
      at = s.observation;
      reached += s.reward == 1;
      if (s.terminated) break;
    }
  }
  const double p = 0.7401648977587031;  // from the transition matrix, within 100 steps
  CHECK(std::abs(reached / double(episodes) - p) < 4 * std::sqrt(p * (1 - p) / episodes));
}

TEST_CASE("Taxi: each action in each state does what the drawn map says") {
  std::uint32_t digest = 0;
  for (int state = 0; state < 500; ++state) {
    for (int action = 0; action < 6; ++action) {
      rl::taxi t(state);
      const bool legal = t.legal_actions()[static_cast<std::size_t>(action)];
      const auto s = t.step(action);
      // An action is legal if the state changes, as Gymnasium's mask has it.
      CHECK(legal == (s.observation != state));
      digest = digest * 1000003U +
               static_cast<std::uint32_t>(s.observation * 100 + (static_cast<int>(s.reward) + 10) * 2 + s.terminated);
    }
  }
  CHECK(digest == 625242844U);

  std::set<int> starts;
  for (std::uint64_t k = 0; k < 20000; ++k) {
    rl::random numbers(3, k);
    rl::taxi t;
    starts.insert(t.reset(numbers));
  }
  CHECK(starts.size() == 300);
}

namespace {

struct game {
  int steps, ball_x, ball_y, last_x, last_y, paddle, bricks;
  double score;
};

int where(const rl::breakout::image& o, int channel) {
  for (int i = 0; i < 100; ++i)
    if (o[static_cast<std::size_t>(channel * 100 + i)] == 1) return i;
  return -1;
}

/// Plays until the ball is lost or for so many steps; `aim` gives where the paddle should go.
template <class Aim>
game play(bool ball_from_right, int steps, Aim aim) {
  rl::breakout e(true, 0);
  rl::breakout::image o{};
  for (std::uint64_t seed = 0;; ++seed) {
    rl::random numbers(seed);
    o = e.reset(numbers);
    if (where(o, 1) == (ball_from_right ? 39 : 30)) break;
  }
  game g{};
  for (int i = 0; i < steps; ++i) {
    const int paddle = where(o, 0) - 90, target = aim(i, where(o, 1) % 10);
    const auto s = e.step(target < paddle ? 1 : target > paddle ? 3 : 0);
    o = s.observation;
    g.score += s.reward;
    g.steps = i + 1;
    if (s.terminated) break;
  }
  g.ball_x = where(o, 1) % 10;
  g.ball_y = where(o, 1) / 10;
  g.last_x = where(o, 2) % 10;
  g.last_y = where(o, 2) / 10;
  g.paddle = where(o, 0) - 90;
  for (std::size_t i = 300; i < 400; ++i) g.bricks += o[i] == 1;
  return g;
}

void check_game(const game& g, std::vector<int> expected) {
  CHECK(std::vector<int>{g.steps, g.ball_x, g.ball_y, g.last_x, g.last_y, g.paddle, static_cast<int>(g.score),
                         g.bricks} == expected);
}

}  // namespace

TEST_CASE("Breakout moves as MinAtar's: straight, off the edge of the paddle, through a new wall") {
  const auto follow = [](int, int ball) { return ball; };
  check_game(play(false, 20, follow), {20, 0, 4, 0, 5, 0, 1, 29});
  check_game(play(false, 200, follow), {200, 0, 5, 0, 4, 0, 18, 12});
  check_game(play(true, 2000, follow), {2000, 9, 5, 9, 4, 9, 168, 12});
  check_game(play(false, 2000, [](int, int) { return 4; }), {6, 6, 9, 5, 8, 4, 0, 30});
  // Every eighth step the paddle aims beside the ball, so that the ball meets its edge or is lost.
  std::uint64_t x = 380;
  const auto beside = [&](int, int ball) {
    x = (x * 1103515245U + 12345U) % (1U << 31U);
    const auto a = (x >> 16U) % 13U;
    return a < 11 ? ball : a == 11 ? ball + 1 : ball - 1;
  };
  check_game(play(false, 800, beside), {376, 3, 9, 4, 8, 5, 31, 29});
}

// LunarLander by its statistics: Gymnasium uses another version of Box2D.
#if __has_include(<box2d/box2d.h>)

namespace {

/// The mean return of a controller that sees the observation and the random numbers of its episode.
template <class E, class Controller>
double mean_return(int episodes, Controller controller) {
  double total = 0;
  for (int k = 0; k < episodes; ++k) {
    rl::random numbers(11, static_cast<std::uint64_t>(k));
    E e;
    auto o = e.reset(numbers);
    for (int i = 0; i < 1000; ++i) {
      const auto s = e.step(controller(o, numbers));
      o = s.observation;
      total += s.reward;
      if (s.terminated) break;
    }
  }
  return total / episodes;
}

struct wish {
  float turn, climb;
};

/// The controller that comes with Gymnasium's environment: how much to turn and to climb.
wish heuristic(const std::array<float, 8>& s) {
  const float angle = std::clamp(s[0] * 0.5f + s[2], -0.4f, 0.4f);
  wish w{(angle - s[4]) * 0.5f - s[5], (0.55f * std::abs(s[0]) - s[1]) * 0.5f - s[3] * 0.5f};
  if (s[6] > 0 || s[7] > 0) w = {0, -s[3] * 0.5f};
  return w;
}

}  // namespace

TEST_CASE("LunarLander: the controller of Gymnasium lands") {
  const double landed = mean_return<rl::lunar_lander>(30, [](const auto& o, rl::random&) {
    const wish w = heuristic(o);
    if (w.climb > std::abs(w.turn) && w.climb > 0.05f) return 2;
    return w.turn < -0.05f ? 3 : w.turn > 0.05f ? 1 : 0;
  });
  MESSAGE("discrete: " << landed);
  CHECK(landed > 200);

  const double continuous = mean_return<rl::lunar_lander_continuous>(30, [](const auto& o, rl::random&) {
    const wish w = heuristic(o);
    return Eigen::VectorXf(Eigen::Vector2f(w.climb * 20 - 1, -w.turn * 20));
  });
  MESSAGE("continuous: " << continuous);
  CHECK(continuous > 200);
}

TEST_CASE("LunarLander: random actions crash as often, and as badly, as with Gymnasium") {
  const double random =
      mean_return<rl::lunar_lander>(100, [](const auto&, rl::random& numbers) { return numbers.index(4); });
  MESSAGE("random: " << random);
  CHECK(random < -130);
  CHECK(random > -250);
}

TEST_CASE("LunarLander: the name makes it, with a limit of 1000 steps") {
  const rl::any_environment e("LunarLander-v3");
  CHECK(e.time_limit() == 1000);
  CHECK(e.observations().size() == 8);
  const auto one = e.make(), other = e.make();
  std::vector<float> a(8), b(8);
  rl::random first(3, 1), second(3, 1);
  one->reset(first, a);
  other->reset(second, b);
  CHECK(a == b);
  const std::vector<float> up = {2};
  for (int i = 0; i < 50; ++i) {
    one->step(up, a);
    other->step(up, b);
  }
  CHECK(a == b);
  CHECK(one->text().find('A') != std::string::npos);
}

#endif

TEST_CASE("spaces: sizes, features, samples, equality and serialisation, also of tuples and dicts") {
  const rl::space grip = rl::multi_binary{2}, pair = rl::tuple{{rl::discrete{3, 5}, rl::box{{0.f, -1.f}, {1.f, 1.f}}}};
  const rl::space all = rl::dict{{{"z", pair}, {"a", grip}, {"m", rl::multi_discrete{{2, 4}}}}};
  CHECK(all.size() == 2 + 2 + 3);
  CHECK(all.features() == 2 + 6 + 5);
  CHECK(all.text() ==
        "dict{{{\"a\", multi_binary{2}}, {\"m\", multi_discrete{{2, 4}}}, "
        "{\"z\", tuple{{discrete{3, 5}, box{{0, -1}, {1, 1}}}}}}}");
  // In the order of the names: a, m, z.
  const std::vector<float> value = {1, 0, 1, 3, 6, 0.5f, -0.5f};
  CHECK(all.contains(value));
  std::vector<float> features(13);
  all.flatten(value, features.data());
  CHECK(features == std::vector<float>{1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0.5f, -0.5f});
  for (auto [place, wrong] : {std::pair{0, 2.f}, {1, 0.5f}, {3, 4.f}, {4, 4.f}, {4, 8.f}, {5, 1.5f}, {6, -2.f}}) {
    std::vector<float> other = value;
    other[static_cast<std::size_t>(place)] = wrong;
    CHECK(!all.contains(other));
  }
  CHECK(!all.contains(std::vector<float>(6)));
  rl::random numbers(4);
  std::set<std::vector<float>> different;
  for (int i = 0; i < 500; ++i) {
    std::vector<float> drawn(7);
    all.sample(numbers, drawn.data());
    CHECK(all.contains(drawn));
    different.insert(drawn);
  }
  CHECK(different.size() == 500);
  std::stringstream bytes;
  cereal::BinaryOutputArchive{bytes}(all);
  rl::space copy;
  cereal::BinaryInputArchive{bytes}(copy);
  CHECK(copy == all);
  CHECK(!(copy == pair));
  CHECK(!(rl::space(rl::multi_binary{3}) == grip));
  CHECK_THROWS_AS(rl::space(rl::tuple{}), manta::error);
  CHECK_THROWS_AS(rl::space(rl::multi_binary{0}), manta::error);
}
