// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games: environments with several seats, of which each step says who acts next, one or several at once. Any class with
// these members is one:
//
//   struct tic_tac_toe {
//     static rl::seats seats() { return {2, rl::planes_of(2, 3, 3), rl::discrete{9}}; }
//     void reset(rl::random& random, rl::table& t);         // begins an episode: t.see(seat, observation) for who acts
//     void step(rl::table& t);                              // t.action(seat) of those that acted; then who acts next:
//                                                           // t.see, t.allow(seat, mask); t.reward(seat, 1), t.end()
//     template <class Archive> void serialize(Archive& archive);
//   };
//   rl::alpha_zero algorithm(rl::environment<tic_tac_toe>(), {.seed = 1});
//
// Observations, actions and masks are those of an environment (environment.hpp). A seat that sees nothing in a step
// does not act in the next one; it may see something later, or end by t.end(seat). A search copies games, by the copy
// constructor, or by `serialize` where there is none. `std::string text() const` is a picture of the state.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "manta/rl/environments/environment.hpp"
#include "manta/rl/seats/game_class.hpp"

namespace manta::rl {

/// A game as a value, which can be copied, sent and saved: rl::environment<E>(..), or the name of a registered one,
/// such as "Connect4".
class any_game : public detail::constructed {
 public:
  any_game() = default;
  /// Throws manta::error if there is none of this name; the text has the names that there are.
  MANTA_DECL any_game(const char* name);
  MANTA_DECL any_game(const std::string& name);

  [[nodiscard]] const rl::seats& seats() const { return seats_; }
  /// The game under another name, for messages.
  [[nodiscard]] any_game with_name(const std::string& name) const {
    any_game g = *this;
    g.name_ = name;
    return g;
  }
  /// This game with another limit.
  [[nodiscard]] any_game with_time_limit(int steps) const {
    any_game g = *this;
    g.time_limit_ = steps;
    return g;
  }
  /// A new object of the class, on this rank. Throws if this program does not have the class.
  [[nodiscard]] MANTA_DECL std::unique_ptr<game_object> make() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name_, mangled_, arguments_, call_, time_limit_, seats_);
  }

 protected:
  static any_game made(constructed its) { return any_game(std::move(its)); }
  MANTA_DECL explicit any_game(constructed&& its);

 private:
  rl::seats seats_;
};

/// Gives a game a name, for any_game("name"). To be called on every rank that uses the name, such as before manta::run.
MANTA_DECL void register_game(const std::string& name, const any_game& g);
/// The names that there are.
MANTA_DECL std::vector<std::string> game_names();

/// The games of class E, each constructed with these arguments, which have to be serialisable.
template <detail::has_seats E>
class environment<E> : public any_game {
 public:
  template <class... Args>
  explicit environment(const Args&... args) : any_game(value(manta::detail::constructor_value(args)...)) {}

 private:
  template <class... Args>
  static any_game value(Args... args) {
    static_assert(detail::is_made_of<E, Args...>(),
                  "manta: rl: rl::environment<E>(arguments..) passes its arguments to a constructor of E, or to the "
                  "members of an aggregate, and E has none for these");
    if constexpr (detail::require_game<E>() && detail::is_made_of<E, Args...>()) {
      const std::tuple<Args...> arguments(std::move(args)...);
      return made(constructed::from<E, detail::game_entry<E, Args...>>(arguments));
    } else {
      return {};
    }
  }
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/game.ipp"
#endif
