// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Matches between two policies in a game of two seats:
//
//   rl::match m = rl::play("TicTacToe", algorithm.trained(25), rl::own<perfect>(), 500, {.seed = 1});
//   std::cout << m << '\n';         // 500 games: 0 won, 500 drawn, 0 lost; score 0.5 (0.5 to 0.5)
//   return m.lost == 0;
#pragma once

#include <cstdint>
#include <iosfwd>

#include "manta/rl/planning/game_policy.hpp"

namespace manta::rl {

struct play_options {
  std::uint64_t seed = 0;  ///< the same seed, the same games, on any number of ranks
};

/// The result of a match for the first policy.
struct match {
  int games = 0, won = 0, drawn = 0, lost = 0;
  int won_first = 0, drawn_first = 0, lost_first = 0;  ///< results of the games with seat 0, every second one

  /// The points of a game: 1 for one that was won, 0.5 for one that was drawn.
  [[nodiscard]] double score() const { return games == 0 ? 0 : (won + 0.5 * drawn) / games; }
  struct interval {
    double low = 0, high = 1;
  };
  /// Where the score of endless games lies, with a probability of at least 0.95 (Wilson, 1927, as if each game had
  /// been won or lost).
  [[nodiscard]] MANTA_DECL interval likely_score() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(games, won, drawn, lost, won_first, drawn_first, lost_first);
  }
};
MANTA_DECL std::ostream& operator<<(std::ostream& out, const match& m);

/// Plays games by tasks on any ranks, and waits. The first policy has seat 0 in the games 0, 2, 4, .., else seat 1. A
/// game is won by who has the larger sum of rewards. Throws manta::error, with game and step, for what the game or a
/// player does wrong, and if an episode has not ended after 100 000 steps.
MANTA_DECL match play(const any_game& g, const game_policy& first, const game_policy& second, int games,
                      const play_options& o = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/play.ipp"
#endif
