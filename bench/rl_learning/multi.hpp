// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rows of several policies that learn in one game, in the form of those of offline.hpp.
#pragma once

#include <manta/rl/multi.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "offline.hpp"

namespace bench::multi {

namespace rl = manta::rl;

/// Rock, paper, scissors, at once.
struct rock_paper_scissors {
  static rl::seats seats() { return {2, rl::discrete{1}, rl::discrete{3}}; }
  void reset(rl::random&, rl::table& t) {
    t.see(0, 0);
    t.see(1, 0);
  }
  void step(rl::table& t) {
    const int lead = (t.action(0) - t.action(1) + 3) % 3;
    t.reward(0, lead == 0 ? 0 : lead == 1 ? 1 : -1);
    t.reward(1, lead == 0 ? 0 : lead == 1 ? -1 : 1);
    t.end();
  }
};

/// The first one's first action chooses between 7 for sure and a game in which both have to agree on the second action.
struct two_step {
  int state = 0;
  static rl::seats seats() {
    return {{"first", rl::discrete{3}, rl::discrete{2}}, {"second", rl::discrete{3}, rl::discrete{2}}};
  }
  void reset(rl::random&, rl::table& t) {
    state = 0;
    look(t);
  }
  void step(rl::table& t) {
    if (state == 0) {
      state = 1 + t.action(0);
      return look(t);
    }
    const int both = t.action(0) + t.action(1);
    t.reward_all(state == 1 ? 7 : both == 0 ? 0 : both == 2 ? 8 : 1);
    t.end();
  }
  void look(rl::table& t) const {
    for (int i : {0, 1}) t.see(i, state);
    t.state(std::array{state == 0, state == 1, state == 2});
  }
};

/// How often a policy plays each hand.
inline std::array<double, 3> hands(const rl::trained_policy& p) {
  manta::nn::network<float> net = p.network();
  manta::nn::matrix<float> x;
  rl::normaliser(p.filter()).apply(manta::nn::matrix<float>::Ones(1, 1), x);
  const manta::nn::matrix<float> y = net.forward(x);
  std::array<double, 3> all{};
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += all[i] = std::exp(static_cast<double>(y(static_cast<Eigen::Index>(i), 0)));
  for (double& h : all) h /= sum;
  return all;
}

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

/// One pole's steps to a return of 475 over four poles'; five seeds together.
inline offline::result share_poles(int) {
  std::array<double, 2> steps{};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const int seats : {1, 4}) {
      rl::multi training(rl::together("CartPole-v1", seats),
                         {.seed = seed, .fragment = 256 / seats, .policies = {{"pole", rl::ppo_options{}}}});
      rl::multi_report r;
      do r = training.train();
      while (r["pole"].mean_return < 475 && r.steps < 500'000);
      steps[seats == 4 ? 1 : 0] += static_cast<double>(r.steps) / 5;
    }
  }
  return {steps[0] / steps[1],
          "one needs " + std::to_string(steps[0]) + " steps, four need " + std::to_string(steps[1])};
}

inline const std::vector<offline::row> rows = {
    {"multi.rock_paper_scissors", "rock, paper, scissors", "the farthest mean play from a third, negative", -0.05, 5, 5,
     play_hands},
    {"multi.two_step", "the two-step game", "with a central critic", 8, 5, 5, cooperate},
    {"multi.poles", "1 and 4 CartPoles, one policy", "steps of one over steps of four; five seeds together", 4 / 1.3, 1,
     1, share_poles},
};

}  // namespace bench::multi
