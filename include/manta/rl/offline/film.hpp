// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An episode of a built-in environment as an animated picture: one file that a browser opens from disk.
//
//   rl::film("episode.html", "CartPole-v1", algorithm.trained(), {.seed = 7});
//   rl::film("recorded.html", rl::read_episodes("expert.episodes"), 3);
#pragma once

#include <string>

#include "manta/rl/base/film_page.hpp"
#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/policies/player.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

/// Plays an episode by a task, waits, and writes the page. Pictures are there of CartPole, Acrobot, MountainCar with
/// choices and with numbers, Pendulum, LunarLander, Catch, FrozenLake and MinAtar's Breakout; planning/game_film.hpp
/// has games of two policies. Throws manta::error for another environment, if the page cannot be written, and for what
/// rl::record throws.
MANTA_DECL void film(const std::string& path, const any_environment& e, const trained_policy& p,
                     const film_options& o = {});
MANTA_DECL void film(const std::string& path, const any_environment& e, const own_player& p,
                     const film_options& o = {});
/// The recorded episode of this number, in place of one that is played.
MANTA_DECL void film(const std::string& path, const episodes& data, std::size_t number = 0, const film_options& o = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/film.ipp"
#endif
