// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games, environments with several seats: classes of one's own and those that are built in, their checker, players,
// searches and matches. Opt-in: include this header, or that of an algorithm for games.
//
//   rl::check<my_game>();
//   rl::planner searcher("Connect4", {.simulations = 200, .rollouts = true});
//   std::cout << rl::play("Connect4", searcher, {}, 100) << '\n';                     // against chance
#pragma once

#include "manta/manta.hpp"
#include "manta/nn.hpp"
#include "manta/rl/planning/game_film.hpp"
#include "manta/rl/planning/play.hpp"
#include "manta/rl/seats/against.hpp"
#include "manta/rl/seats/board_games.hpp"
#include "manta/rl/seats/check_game.hpp"
#include "manta/rl/seats/joint.hpp"
#include "manta/rl/seats/pettingzoo.hpp"
