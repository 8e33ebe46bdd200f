// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The built-in games: two seats in turn, of which one wins 1 and the other one -1, or both have 0. A seat sees its own
// pieces on the first plane and those of the other one on the second.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "manta/rl/seats/game.hpp"

namespace manta::rl {

/// Three in a row of three. The cells are 0 to 8, row by row from the top.
struct tic_tac_toe {
  static rl::seats seats() { return {2, planes_of(2, 3, 3), discrete{9}}; }
  MANTA_DECL void reset(random& numbers, table& t);
  MANTA_DECL void step(table& t);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cells, turn);
  }

  std::array<signed char, 9> cells{};  ///< 1: of seat 0, -1: of seat 1
  int turn = 0;

 private:
  void show(table& t) const;
};

/// Four in a row, column or diagonal of a board of 7 columns and 6 rows. An action is a column, from the left; the
/// piece falls down in it. The planes have the highest row first.
struct connect_four {
  static constexpr int columns = 7, rows = 6;
  static rl::seats seats() { return {2, planes_of(2, rows, columns), discrete{columns}}; }
  MANTA_DECL void reset(random& numbers, table& t);
  MANTA_DECL void step(table& t);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(pieces, turn);
  }

  /// The pieces of both seats. A column has 7 bits, the lowest for its lowest row; the highest one stays 0, so that
  /// no line goes on from one column to the next.
  std::array<std::uint64_t, 2> pieces{};
  int turn = 0;

 private:
  void show(table& t) const;
  [[nodiscard]] std::array<float, 2 * rows * columns> planes() const;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/board_games.ipp"
#endif
