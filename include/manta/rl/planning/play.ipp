// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <ostream>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/manta.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/planning/play.hpp"

namespace manta::rl {

MANTA_DECL match::interval match::likely_score() const {
  if (games == 0) return {};
  constexpr double z = 1.96;
  const double n = games, p = score(), scale = 1 + z * z / n;
  const double middle = (p + z * z / (2 * n)) / scale;
  const double width = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
  return {std::max(0., middle - width), std::min(1., middle + width)};
}

MANTA_DECL std::ostream& operator<<(std::ostream& out, const match& m) {
  const match::interval i = m.likely_score();
  const auto rounded = [](double x) { return std::round(x * 1000) / 1000; };
  return out << base::text("{} games: {} won, {} drawn, {} lost; score {} ({} to {})", m.games, m.won, m.drawn, m.lost,
                           rounded(m.score()), rounded(i.low), rounded(i.high));
}

namespace detail {

/// What two policies play.
struct match_setting {
  any_game game;
  game_policy first, second;
  std::uint64_t seed = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(game, first, second, seed);
  }
};

/// A game of a match, with the numbers of both policies.
struct match_lane {
  live_game game;
  std::array<random, 2> numbers;
  int seat_of_first = 0;
};

inline void count_game(match& m, const match_lane& l) {
  const double mine = l.game.total(l.seat_of_first), its = l.game.total(1 - l.seat_of_first);
  const bool is_first = l.seat_of_first == 0;
  ++m.games;
  m.won += mine > its;
  m.lost += mine < its;
  m.drawn += mine == its;
  m.won_first += is_first && mine > its;
  m.lost_first += is_first && mine < its;
  m.drawn_first += is_first && mine == its;
}

/// The games first, .., first + count - 1, of which each has begun.
inline std::vector<match_lane> begin_lanes(const match_setting& s, int first, int count) {
  std::vector<match_lane> lanes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::uint64_t number = static_cast<std::uint64_t>(first) + i;
    lanes[i] = {
        live_game(s.game), {random(s.seed, number, 41), random(s.seed, number, 42)}, static_cast<int>(number % 2)};
    lanes[i].game.begin(random(s.seed, number, 43), number);
  }
  return lanes;
}

/// Plays them beside each other. Calls after_step(lane) for each step of a game.
template <class F>
void play_lanes(const match_setting& s, std::vector<match_lane>& lanes, F&& after_step) {
  constexpr int longest = 100'000;
  std::array<game_policy_at_work, 2> policies{game_policy_at_work(s.first), game_policy_at_work(s.second)};
  std::vector<game_policy_at_work::turn> turns;
  bool are_playing = true;
  for (int step = 0; std::exchange(are_playing, false); ++step) {
    for (std::size_t who = 0; who < 2; ++who) {
      turns.clear();
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        const int seat = who == 0 ? lanes[i].seat_of_first : 1 - lanes[i].seat_of_first;
        if (lanes[i].game.acts(seat)) turns.push_back({&lanes[i].game, seat, &lanes[i].numbers[who], i});
      }
      policies[who].choose(turns);
    }
    for (match_lane& l : lanes) {
      if (l.game.is_over()) continue;
      if (step == longest) l.game.fail("the episode has not ended; give the game a limit by with_time_limit(steps)");
      l.game.step();
      after_step(l);
      are_playing = true;
    }
  }
}

/// A task: some games of a match.
inline match play_match_part(const match_setting& s, int first, int count) {
  std::vector<match_lane> lanes = begin_lanes(s, first, count);
  play_lanes(s, lanes, [](const match_lane&) {});
  match m;
  for (const match_lane& l : lanes) count_game(m, l);
  return m;
}

}  // namespace detail

MANTA_DECL match play(const any_game& g, const game_policy& first, const game_policy& second, int games,
                      const play_options& o) {
  if (g.seats().size() != 2)
    throw error(base::text("manta: rl: play needs a game of two seats; {} has {}", g.name(), g.seats().size()));
  if (games < 1) throw error(base::text("manta: rl: play was asked for {} games; it needs at least one", games));
  first.require(g);
  second.require(g);
  const future<detail::match_setting> setting = put(detail::match_setting{g, first, second, o.seed});
  std::vector<future<match>> parts;
  for (const auto& [begin, count] : detail::shares(games, (games + 31) / 32))
    parts.push_back(async<detail::play_match_part>(setting, begin, count));
  match all;
  for (const match& m : detail::sentences(parts)) {
    all.games += m.games;
    all.won += m.won;
    all.drawn += m.drawn;
    all.lost += m.lost;
    all.won_first += m.won_first;
    all.drawn_first += m.drawn_first;
    all.lost_first += m.lost_first;
  }
  return all;
}

}  // namespace manta::rl
