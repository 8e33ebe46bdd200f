// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Learning with a model of the environment: a cart on a rail has to stop in the middle. pets learns what the cart does
// from a few hundred steps and plans on it, with a reward that the program knows; cem plans on the true dynamics.
//
//   scripts/run rl_models -n 2
//
// Expected output (the last digits depend on the processor):
//   1200 steps: return -2.93 by plans on what was learnt, -2.56 on the true dynamics
#include <manta/rl/pets.hpp>

#include <array>
#include <cmath>
#include <iostream>

namespace rl = manta::rl;

// [cart]
struct cart {
  float at = 0, speed = 0;

  static rl::box observation_space() { return {{-5.f, -5.f}, {5.f, 5.f}}; }
  static rl::box action_space() { return {{-1.f}, {1.f}}; }
  std::array<float, 2> reset(rl::random& random) { return {at = static_cast<float>(random.uniform(-2, 2)), speed = 0}; }
  rl::step<std::array<float, 2>> step(float push) {
    speed = std::clamp(0.98f * speed + 0.3f * push, -5.f, 5.f);
    at = std::clamp(at + 0.3f * speed, -5.f, 5.f);
    return {{at, speed}, -std::abs(static_cast<double>(at))};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, speed);
  }
};
// [end]

// [reward]
struct distance : rl::model_reward {
  double operator()(std::span<const float>, std::span<const float>, std::span<const float> next) const override {
    return -std::abs(static_cast<double>(next[0]));
  }
};
// [end]

// [cem]
struct looks_ahead : rl::player {
  rl::cem search{cart::action_space(), {.horizon = 15, .candidates = 100, .elites = 10}};
  void act(std::span<const float> seen, rl::random&, std::span<float> action) override {
    action[0] = search.act([&](const Eigen::MatrixXf& pushes) {  // a column for each step
      cart imagined{seen[0], seen[1]};
      double sum = 0;
      for (const float push : pushes.reshaped()) sum += imagined.step(push).reward;
      return sum;
    })[0];
  }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [pets]
    const auto carts = rl::environment<cart>().with_time_limit(40);
    rl::pets algorithm(carts, {.workers = 2,
                               .seed = 1,
                               .learning_starts = 400,
                               .horizon = 15,
                               .candidates = 60,
                               .elites = 8,
                               .reward = rl::own<distance>(),
                               .model = {.hidden = {32, 32}}});
    rl::report r;
    while ((r = algorithm.train()).steps < 1'200) {
    }
    const double learnt = algorithm.evaluate(10).mean_return;
    Eigen::VectorXf push = algorithm.act(std::array{1.f, 0.f});  // plans
    // [end]
    const double known = rl::evaluate(carts, rl::own<looks_ahead>(), 10, 1).mean_return;
    std::cout << r.steps << " steps: return " << learnt << " by plans on what was learnt, " << known
              << " on the true dynamics\n";
    return push[0] < 0 && learnt > known - 1 ? 0 : 1;
  });
}
