// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of one's own in MountainCar, whose goal chance does not reach: a policy that is written down, an exploration
// that follows it now and then, a reward for momentum, and an update rule.
//
//   scripts/run rl_own_parts -n 2
//
// Expected output:
//   swinging by rule: -119
//   ppo, with a reward for momentum: -1..
//   dqn, which sees the rule at work: -1..
//   reinforce balances a pole for .. steps
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
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

/// What by epsilon depends on chance elsewhere follows the rule here, for some steps at a time.
struct seldom_alone : rl::exploration {
  // [exploration]
  int left = 0;  // steps by the rule
  void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override {
    if (left == 0 && numbers.uniform() < in.randomness / 20) left = 20;
    if (left > 0) {
      --left;
      swing().act(in.observation, numbers, action);
    } else if (numbers.uniform() < in.randomness) {
      action[0] = static_cast<float>(numbers.index(3));
    } else {
      action[0] = static_cast<float>(std::max_element(in.outputs.begin(), in.outputs.end()) - in.outputs.begin());
    }
  }
  void begin_episode() override { left = 0; }
  // [end]
  template <class Archive>
  void serialize(Archive& archive) {
    archive(left);
  }
};

/// Adds a reward for momentum to what is learnt from; reports and evaluations have the environment's own rewards.
struct momentum : rl::collection {
  explicit momentum(double weight) : weight(weight) {}
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
    rl::dqn taught("MountainCar-v0", {.workers = 2, .seed = 1, .exploration = rl::own<seldom_alone>()});
    reinforce mine("CartPole-v1", 2);
    // [end]
    for (rl::report r; (r = shaped.train()).mean_return < -150 && r.steps < 100'000;) std::cout << r << std::endl;
    const double with_momentum = shaped.evaluate(100).mean_return;
    for (rl::report r; (r = taught.train()).mean_return < -150 && r.steps < 20'000;) std::cout << r << std::endl;
    const double with_teacher = taught.evaluate(100).mean_return;
    rl::report r;
    for (int i = 0; i < 30; ++i) r = mine.train();
    std::cout << "swinging by rule: " << by_rule << "\nppo, with a reward for momentum: " << with_momentum
              << "\ndqn, which sees the rule at work: " << with_teacher << "\nreinforce balances a pole for "
              << r.mean_length << " steps\n";
    return by_rule > -130 && with_momentum > -180 && with_teacher > -180 && r.mean_length > 60 ? 0 : 1;
  });
}
