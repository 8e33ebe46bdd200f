// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A player of games of the program's own: a heuristic, a perfect player to compare with, or a person.
//
//   struct left_most : rl::seat_player {
//     void act(const rl::live_game& now, int seat, rl::random&, std::span<float> action) override {
//       const rl::mask_view allowed = now.mask(seat);
//       action[0] = std::ranges::find(allowed, 1) - allowed.begin();
//     }
//   };
//   std::cout << rl::play("Connect4", a.trained(100), rl::own<left_most>(), 200) << '\n';
#pragma once

#include <span>

#include "manta/own.hpp"
#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

/// Each episode has an object of its own.
class seat_player {
 public:
  virtual ~seat_player() = default;
  /// Writes the action of the seat, as the game takes it. A copy of the game can be played on, to look ahead.
  virtual void act(const live_game& now, int seat, random& numbers, std::span<float> action) = 0;
};

/// A class that derives from seat_player, and is constructed from the arguments of own.
using own_seat_player = own_class<seat_player>;

namespace detail {

/// Any action that is allowed, each as probable as the others.
inline void act_by_chance(const live_game& now, int seat, random& numbers, std::span<float> action) {
  sample_allowed(now.game().seats()[seat].actions, now.mask(seat), numbers, action.data());
}

/// The player's action; without a player, one by chance.
inline void act_by(seat_player* player, live_game& now, int seat, random& numbers, std::span<float> action) {
  if (player == nullptr) {
    act_by_chance(now, seat, numbers, action);
  } else {
    player->act(now, seat, numbers, action);
  }
}

}  // namespace detail

}  // namespace manta::rl
