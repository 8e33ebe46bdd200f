// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/planning/game_film.hpp"
#include "manta/rl/planning/play.ipp"

namespace manta::rl {

namespace detail {

/// A state of a board of characters as a JavaScript array of rows; the line of digits below it is left out.
inline std::string rows_text(const std::string& board) {
  std::string rows;
  for (std::size_t at = 0; at < board.size();) {
    const std::size_t end = std::min(board.find('\n', at), board.size());
    const std::string row = board.substr(at, end - at);
    if (!row.starts_with('0')) rows += (rows.empty() ? "\"" : ",\"") + row + '"';
    at = end + 1;
  }
  return '[' + rows + ']';
}

/// A task: the first game of a match.
inline film_content filmed_game(const match_setting& s) {
  film_content c{.kind = "board", .title = {}, .end = {}, .rewards = {}, .actions = {}, .states = {}};
  std::vector<match_lane> lanes = begin_lanes(s, 0, 1);
  const live_game& game = lanes.front().game;
  c.states = rows_text(game.text());
  play_lanes(s, lanes, [&](const match_lane& l) {
    const std::string comma = c.rewards.empty() ? "" : ",";
    c.rewards += comma + std::to_string(static_cast<int>(game.reward(l.seat_of_first)));
    c.actions += comma + "[]";
    c.states += ',' + rows_text(game.text());
  });
  const double total = game.total(lanes.front().seat_of_first);
  c.end = total == 0 ? "drawn" : total > 0 ? "the first policy, x, has won" : "the second policy, o, has won";
  for (std::string* list : {&c.rewards, &c.actions, &c.states}) *list = '[' + *list + ']';
  return c;
}

}  // namespace detail

MANTA_DECL void film(const std::string& path, const any_game& g, const game_policy& first, const game_policy& second,
                     const film_options& o) {
  const bool has_picture = std::ranges::any_of(std::array{"TicTacToe", "Connect4"},
                                               [&](const char* name) { return any_game(name).makes_as(g); });
  if (!has_picture)
    throw error(
        base::text("manta: rl: film: there are no pictures of {}; there are of TicTacToe and Connect4", g.name()));
  first.require(g);
  second.require(g);
  detail::film_content c =
      detail::sentence(async<detail::filmed_game>(detail::match_setting{g, first, second, o.seed}));
  c.title = o.title.empty() ? g.name() : o.title;
  detail::write_film(path, c);
}

}  // namespace manta::rl
