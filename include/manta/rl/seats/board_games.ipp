// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>

#include "manta/rl/seats/board_games.hpp"

namespace manta::rl {

namespace detail {

inline constexpr std::array<std::array<unsigned char, 3>, 8> lines_of_three = {
    {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};

/// Whether the seat whose turn it was has won, or nobody can; else false.
inline bool end_of_board_game(table& t, int turn, bool has_won, bool is_full) {
  if (has_won) {
    t.reward(turn, 1);
    t.reward(1 - turn, -1);
  }
  if (has_won || is_full) t.end();
  return has_won || is_full;
}

/// Six bits in each of seven columns.
inline constexpr std::uint64_t full_board = 0xfdfbf7efdfbfULL;

/// Four bits in a line: upwards, along a row, or along one of both diagonals.
inline bool has_four(std::uint64_t pieces) {
  for (const unsigned step : {1U, 7U, 6U, 8U}) {
    const std::uint64_t pairs = pieces & (pieces >> step);
    if ((pairs & (pairs >> (2 * step))) != 0) return true;
  }
  return false;
}

}  // namespace detail

MANTA_DECL void tic_tac_toe::reset(random&, table& t) {
  cells = {};
  turn = 0;
  show(t);
}

MANTA_DECL void tic_tac_toe::step(table& t) {
  const auto piece = static_cast<signed char>(turn == 0 ? 1 : -1);
  cells[static_cast<std::size_t>(t.action(turn))] = piece;
  const bool has_won = std::ranges::any_of(detail::lines_of_three, [&](const auto& line) {
    return std::ranges::all_of(line, [&](unsigned char cell) { return cells[cell] == piece; });
  });
  if (detail::end_of_board_game(t, turn, has_won, std::ranges::find(cells, 0) == cells.end())) return;
  turn = 1 - turn;
  show(t);
}

inline void tic_tac_toe::show(table& t) const {
  std::array<float, 18> planes{};
  std::array<bool, 9> empty{};
  for (std::size_t i = 0; i < 9; ++i) {
    empty[i] = cells[i] == 0;
    if (!empty[i]) planes[i + ((cells[i] == 1) == (turn == 0) ? 0 : 9)] = 1;
  }
  t.see(turn, planes);
  t.allow(turn, empty);
}

MANTA_DECL std::string tic_tac_toe::text() const {
  std::string s;
  for (std::size_t i = 0; i < 9; ++i) {
    s += cells[i] == 0 ? '.' : cells[i] == 1 ? 'x' : 'o';
    if (i % 3 == 2) s += '\n';
  }
  return s;
}

MANTA_DECL void connect_four::reset(random&, table& t) {
  pieces = {};
  turn = 0;
  show(t);
}

MANTA_DECL void connect_four::step(table& t) {
  const auto shift = static_cast<unsigned>(7 * t.action(turn));
  std::uint64_t& mine = pieces[static_cast<std::size_t>(turn)];
  const std::uint64_t all = pieces[0] | pieces[1];
  // One more than a column of ones is the bit above them.
  mine |= (all + (std::uint64_t(1) << shift)) & (std::uint64_t(0x3f) << shift) & ~all;
  if (detail::end_of_board_game(t, turn, detail::has_four(mine), (pieces[0] | pieces[1]) == detail::full_board)) return;
  turn = 1 - turn;
  show(t);
}

inline void connect_four::show(table& t) const {
  t.see(turn, [this] { return planes(); });
  t.allow(turn, [this] {
    std::array<bool, columns> open;
    for (std::size_t c = 0; c < columns; ++c) open[c] = (((pieces[0] | pieces[1]) >> (7 * c + rows - 1)) & 1U) == 0;
    return open;
  });
}

inline std::array<float, 2 * connect_four::rows * connect_four::columns> connect_four::planes() const {
  std::array<float, 2 * rows * columns> all{};
  const auto me = static_cast<std::size_t>(turn);
  std::size_t plane = 0;
  for (const std::size_t seat : {me, 1 - me}) {
    for (std::uint64_t rest = pieces[seat]; rest != 0; rest &= rest - 1) {
      const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
      all[plane + (rows - 1 - bit % 7) * columns + bit / 7] = 1;
    }
    plane += rows * columns;
  }
  return all;
}

MANTA_DECL std::string connect_four::text() const {
  std::string s;
  for (int r = rows - 1; r >= 0; --r) {
    for (int c = 0; c < columns; ++c) {
      const auto bit = static_cast<unsigned>(7 * c + r);
      s += ((pieces[0] >> bit) & 1U) != 0 ? 'x' : ((pieces[1] >> bit) & 1U) != 0 ? 'o' : '.';
    }
    s += '\n';
  }
  return s + "0123456\n";
}

}  // namespace manta::rl
