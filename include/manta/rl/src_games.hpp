// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of games.hpp, alpha_zero.hpp, multi.hpp and qmix.hpp, compiled once in the compiled mode. src.hpp
// includes this file. A build that defines MANTA_SOURCES_APART compiles it as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/rl/src_games.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/rl/alpha_zero.ipp"
#include "manta/rl/multi.ipp"
#include "manta/rl/multi/multi_policy.ipp"
#include "manta/rl/multi/multi_setting.ipp"
#include "manta/rl/multi/multi_worker.ipp"
#include "manta/rl/multi/q_mixer.ipp"
#include "manta/rl/multi/seat_actor.ipp"
#include "manta/rl/multi/seat_lanes.ipp"
#include "manta/rl/multi/seat_line.ipp"
#include "manta/rl/multi/seat_tally.ipp"
#include "manta/rl/planning/game_film.ipp"
#include "manta/rl/planning/game_policy.ipp"
#include "manta/rl/planning/planner.ipp"
#include "manta/rl/planning/play.ipp"
#include "manta/rl/planning/position_learner.ipp"
#include "manta/rl/planning/positions.ipp"
#include "manta/rl/planning/search_tree.ipp"
#include "manta/rl/planning/self_play.ipp"
#include "manta/rl/qmix.ipp"
#include "manta/rl/seats/against.ipp"
#include "manta/rl/seats/board_games.ipp"
#include "manta/rl/seats/check_game.ipp"
#include "manta/rl/seats/game.ipp"
#include "manta/rl/seats/joint.ipp"
#include "manta/rl/seats/live_game.ipp"
#include "manta/rl/seats/pettingzoo.ipp"
#include "manta/rl/seats/table.ipp"
#include "manta/rl/seats/together.ipp"

namespace manta::rl {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_or_manta_rl_src_games_hpp);
}

#endif
