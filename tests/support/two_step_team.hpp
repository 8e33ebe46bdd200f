// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A team that learns values in the two-step game.
#pragma once

#include <manta/rl/qmix.hpp>

#include "matrix_games.hpp"

namespace matrix_games {

/// The team acts by chance in training.
inline rl::qmix_options team_options(rl::mixing how, std::uint64_t seed) {
  return {.seed = seed,
          .rate = 3e-3,
          .steps_per_update = 4,
          .learning_starts = 200,
          .follow = 0.02,
          .epsilon = 1,
          .mixing = how,
          .model = {.hidden = {32}}};
}

/// The return that it reaches in 6 000 steps.
inline double reached(const rl::qmix_options& o) {
  rl::qmix team(rl::environment<two_step>(), o);
  while (team.train().steps < 6'000) continue;
  return team.evaluate(10).mean_return;
}

}  // namespace matrix_games
