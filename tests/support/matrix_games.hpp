// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Small games of two policies, and what was learnt in them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <manta/rl/multi.hpp>

namespace matrix_games {

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
  int unused = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(unused);
  }
};

/// The cooperative game whose best value is 8.
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
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state);
  }
};

/// What a policy for rock, paper and scissors plays how often.
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

}  // namespace matrix_games
