// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>

#include "manta/rl/seats/board_games.hpp"
#include "manta/rl/seats/game.hpp"

namespace manta::rl {

namespace detail {

inline manta::detail::class_table<game_class>& game_classes() {
  static manta::detail::class_table<game_class> all;
  return all;
}
MANTA_DECL bool register_game_class(const char* mangled, game_class c) {
  game_classes().add(mangled, c);
  return true;
}

inline std::map<std::string, any_game>& named_games() {
  static std::map<std::string, any_game> all = {{"TicTacToe", environment<tic_tac_toe>().with_name("TicTacToe")},
                                                {"Connect4", environment<connect_four>().with_name("Connect4")}};
  return all;
}

inline void check_seats(const std::string& name, const seats& s) {
  if (s.size() < 1 || s.size() > most_seats)
    throw error(base::text("manta: rl: the game {} has {} seats; it has to have 1 to {}", name, s.size(), most_seats));
  std::set<std::string> names;
  for (int i = 0; i < s.size(); ++i) {
    if (!s[i].name.empty() && !names.insert(s[i].name).second)
      throw error(base::text("manta: rl: the game {} has two seats of the name \"{}\"", name, s[i].name));
  }
}

}  // namespace detail

MANTA_DECL any_game::any_game(const std::string& name) {
  const auto& all = detail::named_games();
  const auto found = all.find(name);
  if (found == all.end()) {
    throw error(
        base::text("manta: rl: there is no game \"{}\"; there are {}. Give a name to one of your own by "
                   "rl::register_game, or pass rl::environment<E>()",
                   name, detail::names_text(all)));
  }
  *this = found->second;
  name_ = name;
}
MANTA_DECL any_game::any_game(const char* name) : any_game(std::string(name)) {}

MANTA_DECL any_game::any_game(constructed&& its)
    : constructed(std::move(its)), seats_(class_in(detail::game_classes(), "game").describe(arguments_)) {
  detail::check_seats(name_, seats_);
}

MANTA_DECL std::unique_ptr<game_object> any_game::make() const {
  return class_in(detail::game_classes(), "game").make(arguments_);
}

MANTA_DECL void register_game(const std::string& name, const any_game& g) {
  detail::named_games()[name] = g.with_name(name);
}
MANTA_DECL std::vector<std::string> game_names() { return detail::names_in(detail::named_games()); }

}  // namespace manta::rl
