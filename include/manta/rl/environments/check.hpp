// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A checker for environments of one's own. It plays a few episodes with random actions and says what is wrong:
//
//   rl::check<corridor>();                  // throws manta::error with all mistakes it has found
//   rl::check<maze>(20, "level.txt");       // with the constructor's arguments
//
// It looks for observations outside their space, of the wrong size or NaN, rewards that are no numbers, exceptions,
// masks of the wrong size or that allow no action, episodes that never end, randomness that does not come from
// reset(random), state that reset() leaves from the episode before, and a serialize() that forgets something. A hanging
// environment hangs the checker.
#pragma once

#include <string>
#include <vector>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// The mistakes of an environment, a sentence each; empty if none was found.
MANTA_DECL std::vector<std::string> find_mistakes(const any_environment& e);

/// Throws manta::error with the mistakes, if there are any.
MANTA_DECL void check(const any_environment& e);

/// The environment E{args...}.
template <class E, class... Args>
void check(const Args&... args) {
  if constexpr (detail::require_environment<E>()) check(static_cast<const any_environment&>(environment<E>(args...)));
}

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/check.ipp"
#endif
