// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A game between two policies as an animated picture: one file that a browser opens from disk.
//
//   rl::film("game.html", "Connect4", algorithm.trained(100), rl::own<left_most>(), {.seed = 7});
#pragma once

#include <string>

#include "manta/rl/base/film_page.hpp"
#include "manta/rl/planning/play.hpp"

namespace manta::rl {

/// Plays the first game that rl::play plays with this seed, by a task, waits, and writes the page, whose curve is the
/// first policy's. Pictures are there of TicTacToe and Connect4. Throws manta::error for another game, if the page
/// cannot be written, and for what rl::play throws.
MANTA_DECL void film(const std::string& path, const any_game& g, const game_policy& first, const game_policy& second,
                     const film_options& o = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/game_film.ipp"
#endif
