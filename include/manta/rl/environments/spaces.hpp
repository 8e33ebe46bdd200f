// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An environment of which only the spaces are known: that of episodes in a file, or of a seat in a game.
#pragma once

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// An environment that has spaces and cannot be played. `masks`: the actions of its episodes have masks.
MANTA_DECL any_environment spaces(const space& observations, const space& actions, bool masks = false);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/spaces.ipp"
#endif
