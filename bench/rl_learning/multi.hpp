// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rows of several policies that learn in one game, in the form of those of offline.hpp.
#pragma once

#include <manta/rl/multi.hpp>
#include <manta/rl/qmix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../../tests/support/two_step_team.hpp"
#include "offline.hpp"

namespace bench::multi {

namespace rl = manta::rl;
using matrix_games::hands;
using matrix_games::rock_paper_scissors;
using matrix_games::two_step;

inline offline::result play_hands(int seed) {
  const rl::ppo_options o{.rate = 3e-3, .epochs = 4, .entropy = 0.1, .model = {.hidden = {16}}};
  rl::multi training(rl::environment<rock_paper_scissors>(),
                     {.seed = static_cast<std::uint64_t>(seed), .fragment = 32, .policies = {{"0", o}, {"1", o}}});
  constexpr int iterations = 300;
  std::array<std::array<double, 3>, 2> mean{};
  double most = 0;
  for (int i = 0; i < iterations; ++i) {
    training.train();
    for (const std::size_t seat : {0U, 1U}) {
      const auto now = hands(training.trained(std::to_string(seat)));
      for (std::size_t h = 0; h < 3; ++h) mean[seat][h] += now[h] / iterations;
      most = std::max(most, *std::ranges::max_element(now));
    }
  }
  double farthest = 0;
  for (const auto& seat : mean) {
    for (const double share : seat) farthest = std::max(farthest, std::abs(share - 1. / 3));
  }
  return {-farthest, "mean plays are up to " + std::to_string(farthest) + " from a third; one iteration's up to " +
                         std::to_string(most)};
}

inline offline::result cooperate(int seed) {
  const rl::ppo_options o{.rate = 1e-3, .entropy = 0.01, .model = {.hidden = {32}}};
  rl::multi training(rl::environment<two_step>(), {.seed = static_cast<std::uint64_t>(seed),
                                                   .fragment = 64,
                                                   .policies = {{"first", o}, {"second", o}},
                                                   .central_values = true});
  for (int i = 0; i < 20; ++i) training.train();
  const double value = training.evaluate(100)["first"].mean_return;
  return {value, "return " + std::to_string(value)};
}

inline double team(rl::mixing how, int seed) {
  return matrix_games::reached(matrix_games::team_options(how, static_cast<std::uint64_t>(seed)));
}
inline offline::result mix(int seed) {
  const double value = team(rl::mixing::monotone, seed);
  return {value, "return " + std::to_string(value)};
}
inline offline::result learn_alone(int seed) {
  const double value = team(rl::mixing::none, seed);
  return {-std::abs(value - 7), "return " + std::to_string(value)};
}

/// One pole's steps to a return of 475 over four poles'; medians of five seeds.
inline offline::result share_poles(int) {
  std::array<std::vector<double>, 2> steps;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int seats : {1, 4}) {
      rl::multi training(rl::together("CartPole-v1", seats),
                         {.seed = seed, .fragment = 256 / seats, .policies = {{"pole", rl::ppo_options{}}}});
      rl::multi_report r;
      do r = training.train();
      while (r["pole"].mean_return < 475 && r.steps < 500'000);
      steps[seats == 4 ? 1 : 0].push_back(static_cast<double>(r.steps));
      std::fprintf(stderr, "seed %d, %d poles: %.0f steps\n", static_cast<int>(seed), seats,
                   static_cast<double>(r.steps));
    }
  }
  for (auto& of_all : steps) std::ranges::nth_element(of_all, of_all.begin() + 2);
  return {steps[0][2] / steps[1][2], "one needs " + std::to_string(steps[0][2]) + " steps, four need " +
                                         std::to_string(steps[1][2]) + ", medians of five"};
}

inline const std::vector<offline::row> rows = {
    {"multi.rock_paper_scissors", "rock, paper, scissors", "the farthest mean play from a third, negative", -0.05, 5, 5,
     play_hands},
    {"multi.two_step", "the two-step game", "with a central critic", 8, 5, 5, cooperate},
    {"multi.qmix", "the two-step game", "QMIX, which acts by chance", 8, 5, 5, mix},
    {"multi.alone", "the two-step game", "independent DQN: the distance from 7, negative", 0, 5, 5, learn_alone},
    {"multi.poles", "1 and 4 CartPoles, one policy", "steps of one over steps of four; medians of five seeds", 4 / 1.3,
     1, 1, share_poles},
};

}  // namespace bench::multi
