// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of one's own: MountainCar, whose goal chance does not reach, by a policy that is written down and by a reward
// for momentum; CartPole by an exploration, and by update rules that learn from fragments and from a memory; Pendulum
// in the wind.
//
//   scripts/run rl_own_parts -n 2
//
// Expected output:
//   swinging by rule: -119
//   ppo, with a reward for momentum: -1..
//   dqn, whose choices cool down, balances a pole for .. steps, reinforce for .., soft values for ..
//   a pendulum in the wind costs .., without it ..
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"

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

/// Soft Q-learning (Haarnoja et al., 2017): an update rule of one's own that learns from the memory.
class soft_values : public rl::off_policy_learner {
 public:
  soft_values(const rl::any_environment& e, const rl::off_policy_options& o)
      : off_policy_learner("soft_values", e, o),
        net_(manta::nn::shape{e.observations().features()}, manta::nn::linear(64), manta::nn::relu(),
             manta::nn::linear(e.actions().as_discrete()->n)),
        slow_(net_),
        optimizer_(manta::nn::adam({.rate = 1e-3})) {}

  const manta::nn::network<float>& network() const override { return net_; }  // workers explore by what it gives
  // [rule]
  void update(const rl::replay::sample& s, rl::random&, std::vector<float>& errors,
              std::map<std::string, double>& figures) override {
    const Eigen::ArrayXXf later = slow_.forward(s.drawn.next).array() / temperature;
    const manta::nn::matrix<float>& q = net_.forward(s.drawn.observations);
    manta::nn::matrix<float> slopes = manta::nn::matrix<float>::Zero(q.rows(), q.cols());
    for (std::size_t k = 0; k < errors.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      const auto a = static_cast<Eigen::Index>(s.drawn.actions(0, i));
      const float value = temperature * std::log(later.col(i).exp().sum());
      errors[k] = q(a, i) - (s.drawn.rewards[k] + s.drawn.discounts[k] * value);
      slopes(a, i) = std::clamp(errors[k], -1.f, 1.f) / static_cast<float>(errors.size());
      figures["error"] += static_cast<double>(std::abs(errors[k])) / static_cast<double>(errors.size());
    }
    net_.zero_gradients();
    net_.backward(slopes);
    step(optimizer_, net_.parameters(), net_.gradients());
    if (updates() % 100 == 0) slow_ = net_;
  }
  // [end]
  std::vector<std::span<const float>> parameters() const override { return {network().parameters()}; }
  std::string networks() const override { return manta::output::pack(net_, slow_, optimizer_); }
  void restore_networks(const std::string& bytes) override { manta::output::unpack(bytes, net_, slow_, optimizer_); }

 private:
  static constexpr float temperature = 0.1F;
  manta::nn::network<float> net_, slow_;
  manta::nn::optimizer optimizer_;
};

// [wrapper]
/// Each step pushes besides.
struct windy : rl::wrapper {
  windy(const rl::any_environment& e, float force) : wrapper(e), force_(force) {}
  rl::step<observation> step(std::span<const float> action) {  // what the class does not say stays as it was
    const float with_wind[] = {std::clamp(action[0] + force_, -2.f, 2.f)};
    return wrapper::step(with_wind);
  }
  float force_;
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [use]
    const double by_rule = rl::evaluate("MountainCar-v0", rl::own<swing>(), 100).mean_return;
    rl::ppo shaped("MountainCar-v0", {.workers = 2, .seed = 1, .collection = rl::own<momentum>(50.0)});
    rl::dqn curious(
        "CartPole-v1",
        {.seed = 1, .exploration_steps = 4000, .model = {.hidden = {64, 64}}, .exploration = rl::own<boltzmann>()});
    reinforce mine("CartPole-v1", 2);
    rl::off_policy soft(std::make_unique<soft_values>(
        "CartPole-v1", rl::off_policy_options{.workers = 2, .seed = 1, .exploration = {.own = rl::own<boltzmann>()}}));
    rl::sac sailor(rl::wrap<windy>("Pendulum-v1", 0.5f), {.seed = 1, .batch = 32, .learning_starts = 400});
    // [end]
    for (rl::report r; (r = shaped.train()).mean_return < -170 && r.steps < 100'000;) std::cout << r << std::endl;
    const double with_momentum = shaped.evaluate(100).mean_return;
    rl::report r;
    while ((r = curious.train()).steps < 6000) {
    }
    const double with_temperature = r.mean_return;
    for (int i = 0; i < 15; ++i) r = mine.train();
    rl::report of_soft, of_sailor;
    while ((of_soft = soft.train()).steps < 6000) {
    }
    while ((of_sailor = sailor.train()).steps < 800) {
    }
    const double in_wind = sailor.evaluate(10).mean_return;
    const double without = sailor.evaluate(10, {.environment = "Pendulum-v1"}).mean_return;
    std::cout << "swinging by rule: " << by_rule << "\nppo, with a reward for momentum: " << with_momentum
              << "\ndqn, whose choices cool down, balances a pole for " << with_temperature << " steps, reinforce for "
              << r.mean_length << ", soft values for " << of_soft.mean_return << "\na pendulum in the wind costs "
              << -in_wind << ", without it " << -without << '\n';
    return by_rule > -130 && with_momentum > -180 && with_temperature > 40 && r.mean_length > 60 &&
                   of_soft.mean_return > 30
               ? 0
               : 1;
  });
}
