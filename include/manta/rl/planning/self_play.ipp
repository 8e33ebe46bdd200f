// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/rl/planning/self_play.hpp"

namespace manta::rl::detail {

/// A position of a game that has not ended yet.
struct recorded_position {
  std::vector<float> features, policy;
  std::vector<unsigned char> mask;
  int seat = 0;
  bool is_proven = false;
  float value = 0;  ///< that of the search, where it is proven
};

struct self_play_lane {
  live_game game;
  random numbers;
  std::vector<recorded_position> seen;
};

/// An action drawn by shares, each to the power of 1 / temperature.
inline int draw_by(const std::vector<float>& shares, double temperature, random& numbers) {
  std::vector<double> weights;
  double sum = 0;
  for (const float s : shares) weights.push_back(sum += s > 0 ? std::pow(static_cast<double>(s), 1 / temperature) : 0);
  const double at = numbers.uniform() * sum;
  const auto found = std::ranges::upper_bound(weights, at);
  return static_cast<int>(std::min(found, weights.end() - 1) - weights.begin());
}

inline void record(self_play_lane& l, const searched& s) {
  recorded_position p;
  p.seat = l.game.mover();
  const space& observations = l.game.game().seats()[p.seat].observations;
  p.features.resize(static_cast<std::size_t>(observations.features()));
  observations.flatten(l.game.observation(p.seat), p.features.data());
  p.policy = s.policy;
  const mask_view mask = l.game.mask(p.seat);
  p.mask.assign(mask.begin(), mask.end());
  p.is_proven = s.is_proven;
  p.value = s.value;
  l.seen.push_back(std::move(p));
}

/// Positions of all games with their results: what is known for certain, else how the game has ended.
inline games_played results_of(const std::vector<self_play_lane>& lanes, std::uint64_t first) {
  games_played all;
  std::size_t count = 0, next = 0;
  for (const self_play_lane& l : lanes) count += l.seen.size();
  const recorded_position& one = lanes.front().seen.front();
  all.found.resize(std::ssize(one.features), std::ssize(one.policy), count);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const self_play_lane& l = lanes[i];
    double proven = 0;
    for (const recorded_position& p : l.seen) {
      const auto column = static_cast<Eigen::Index>(next);
      std::ranges::copy(p.features, all.found.observations.col(column).data());
      std::ranges::copy(p.policy, all.found.policies.col(column).data());
      std::ranges::copy(p.mask, all.found.masks.col(column).data());
      all.found.values[next++] = p.is_proven ? p.value : static_cast<float>(l.game.total(p.seat));
      proven += p.is_proven ? 1 : 0;
    }
    const double total = l.game.total(0);
    all.episodes.push_back({total,
                            l.game.steps(),
                            0,
                            first + i,
                            {{"first_wins", total > 0 ? 1. : 0.},
                             {"drawn", total == 0 ? 1. : 0.},
                             {"proven", proven / static_cast<double>(l.seen.size())}}});
  }
  return all;
}

MANTA_DECL games_played play_itself(const self_play_setting& s, const nn::network<float>& net, std::uint64_t first,
                                    int count) {
  constexpr std::uint64_t longest = 100'000;
  planner searcher(s.game, net, s.search);
  std::vector<self_play_lane> lanes;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(i);
    self_play_lane& l = lanes.emplace_back(self_play_lane{live_game(s.game), random(s.seed, number, 51), {}});
    l.game.begin(random(s.seed, number, 52), number);
  }
  for (;;) {
    std::vector<const live_game*> open;
    std::vector<random> numbers;
    for (self_play_lane& l : lanes) {
      if (l.game.is_over()) continue;
      if (l.game.steps() == longest)
        l.game.fail("the episode has not ended; give the game a limit by with_time_limit()");
      open.push_back(&l.game);
      numbers.emplace_back(l.numbers.bits());
    }
    if (open.empty()) return results_of(lanes, first);
    const std::vector<searched> found = searcher.search(open, numbers);
    std::size_t next = 0;
    for (self_play_lane& l : lanes) {
      if (l.game.is_over()) continue;
      const searched& its = found[next++];
      record(l, its);
      const bool draws = l.game.steps() < static_cast<std::uint64_t>(s.drawn_moves);
      const int action = draws ? draw_by(its.policy, s.temperature, l.numbers) : its.best;
      l.game.play(searcher.first_action() + action);
    }
  }
}

}  // namespace manta::rl::detail
