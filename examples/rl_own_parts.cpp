// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of one's own: MountainCar, whose goal chance does not reach, by a policy that is written down and by a reward
// for momentum; CartPole by an exploration and by an update rule.
//
//   scripts/run rl_own_parts -n 2
//
// Expected output:
//   swinging by rule: -119
//   ppo, with a reward for momentum: -1..
//   dqn, whose choices cool down, balances a pole for .. steps, reinforce for ..
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <span>

namespace rl = manta::rl;

// [player]
/// Pushes to where the car already goes.
struct swing : rl::player {
  void act(std::span<const float> observation, rl::random&, std::span<float> action) override {
    action[0] = observation[1] < 0 ? 0 : 2;  // the velocity
  }
};
// [end]

/// Takes good actions more often than bad ones: with probabilities that are exponentials of values over a temperature.
struct boltzmann : rl::exploration {
  // [exploration]
  void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override {
    const double temperature = 0.1 + in.randomness;  // falls as epsilon does
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < in.outputs.size(); ++i) {
      const double value = static_cast<double>(in.outputs[i]) - temperature * std::log(-std::log(numbers.uniform()));
      if (value > best) action[0] = static_cast<float>(i);
      best = std::max(best, value);
    }
  }
  // [end]
};

/// Adds a reward for momentum to what is learnt from; reports and evaluations have the environment's own rewards.
struct momentum : rl::collection {
  explicit momentum(double w) : weight(w) {}
  double weight;
  // [collection]
  void steps_made(const rl::made_steps& s) const override {
    for (std::size_t t = 0; t < s.rewards.size(); ++t)
      s.rewards[t] += weight * std::abs(static_cast<double>(s.next(1, static_cast<Eigen::Index>(t))));
  }
  // [end]
};

/// REINFORCE with a baseline (Williams, 1992): an update rule of one's own.
class reinforce : public rl::on_policy {
 public:
  reinforce(const rl::any_environment& e, int workers)
      : on_policy("reinforce", e, {.workers = workers, .how = {.steps = 256, .lambda = 1}},
                  manta::nn::adam({.rate = 1e-2})) {}

 protected:
  // [algorithm]
  void learn(const rl::fragment& all, rl::report& r) override {
    zero_gradients();
    const auto sums =
        rl::add_gradients(policy_, *distribution_, all, {.value = 0.5, .entropy = 0.01}, spread_gradients_);
    sums.write(r.learner);
    step(0.5);  // at most of this norm
  }
  // [end]
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [use]
    const double by_rule = rl::evaluate("MountainCar-v0", rl::own<swing>(), 100).mean_return;
    rl::ppo shaped("MountainCar-v0", {.workers = 2, .seed = 1, .collection = rl::own<momentum>(50.0)});
    rl::dqn curious(
        "CartPole-v1",
        {.seed = 1, .exploration_steps = 4000, .model = {.hidden = {64, 64}}, .exploration = rl::own<boltzmann>()});
    reinforce mine("CartPole-v1", 2);
    // [end]
    for (rl::report r; (r = shaped.train()).mean_return < -170 && r.steps < 100'000;) std::cout << r << std::endl;
    const double with_momentum = shaped.evaluate(100).mean_return;
    rl::report r;
    while ((r = curious.train()).steps < 6000) {
    }
    const double with_temperature = r.mean_return;
    for (int i = 0; i < 15; ++i) r = mine.train();
    std::cout << "swinging by rule: " << by_rule << "\nppo, with a reward for momentum: " << with_momentum
              << "\ndqn, whose choices cool down, balances a pole for " << with_temperature << " steps, reinforce for "
              << r.mean_length << " steps\n";
    return by_rule > -130 && with_momentum > -180 && with_temperature > 40 && r.mean_length > 60 ? 0 : 1;
  });
}
