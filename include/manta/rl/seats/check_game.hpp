// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checker of environments (check.hpp) for games:
//
//   rl::check<tic_tac_toe>();               // throws manta::error with all mistakes it has found
//
// It plays a few episodes of random actions, and looks for what a game does wrong at its table, for episodes that never
// end, randomness that does not come from reset(random), state that reset() leaves from the episode before, a
// serialize() that forgets something, and copies that go on differently, or that share something with their original.
#pragma once

#include <string>
#include <vector>

#include "manta/rl/environments/check.hpp"
#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

/// The mistakes of a game, a sentence each; empty if none was found.
MANTA_DECL std::vector<std::string> find_mistakes(const any_game& g);

/// Throws manta::error with the mistakes, if there are any.
MANTA_DECL void check(const any_game& g);

/// The game E{args...}.
template <detail::has_seats E, class... Args>
void check(const Args&... args) {
  if constexpr (detail::require_game<E>()) check(static_cast<const any_game&>(environment<E>(args...)));
}

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/check_game.ipp"
#endif
