// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games that a search plays against itself, by tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/planning/planner.hpp"
#include "manta/rl/planning/positions.hpp"

namespace manta::rl::detail {

struct self_play_setting {
  any_game game;
  search_options search;
  int drawn_moves = 0;     ///< the first moves of a game are drawn by the policies that searches find
  double temperature = 1;  ///< temperature of these draws
  std::uint64_t seed = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(game, search, drawn_moves, temperature, seed);
  }
};

struct games_played {
  positions found;  ///< positions in the order of the games
  std::vector<episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(found, episodes);
  }
};

/// A task: the games of these numbers, beside each other, all by this network.
MANTA_DECL games_played play_itself(const self_play_setting& s, const nn::network<float>& net, std::uint64_t first,
                                    int count);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/planning/self_play.ipp"
#endif
