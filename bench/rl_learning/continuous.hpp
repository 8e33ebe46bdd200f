// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ten small problems of control whose actions are numbers, for the defaults of PPO. Each has costs, so a return is
// below zero; most begin with episodes that cost 10 to 10 000 times as much as good ones. A training takes 200 000
// steps and is evaluated twenty times; the last evaluation must not cost more than 1.2 times the best one.
#pragma once

#include <manta/rl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "offline.hpp"

namespace bench::continuous {

namespace rl = manta::rl;

/// A state of at most six numbers, which is also what is observed.
using state = std::array<double, 6>;
using input = std::array<double, 2>;

/// One problem: from a random state, moves a state by an action and says what the step cost.
struct problem {
  const char* name;
  int states, inputs;
  double largest;  ///< an action's numbers are between -largest and largest
  int steps;       ///< of an episode
  void (*begin)(state& x, rl::random& numbers);
  double (*move)(state& x, const input& u, int t, rl::random& numbers);
};

inline double squared(double x) { return x * x; }

/// The angle between -pi and pi.
inline double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

inline const std::array<problem, 10> problems = {{
    {"double integrator", 2, 1, 5, 200,
     [](state& x, rl::random& r) {
       x = {r.uniform(-2, 2), r.uniform(-1, 1)};
     },
     [](state& x, const input& u, int, rl::random& r) {
       const double cost = squared(x[0]) + 0.1 * squared(x[1]) + 0.1 * squared(u[0]);
       x[0] += 0.1 * x[1] + 0.01 * r.normal();
       x[1] += 0.1 * u[0] + 0.01 * r.normal();
       return cost;
     }},
    {"unstable plant, two inputs", 2, 2, 3, 100,
     [](state& x, rl::random& r) {
       x = {r.uniform(-1, 1), r.uniform(-1, 1)};
     },
     [](state& x, const input& u, int, rl::random& r) {
       const double cost = squared(x[0]) + squared(x[1]) + 0.05 * (squared(u[0]) + squared(u[1]));
       const double a = x[0];
       x[0] = 1.05 * a + 0.2 * x[1] + 0.3 * u[0] + 0.01 * r.normal();
       x[1] = -0.1 * a + 1.02 * x[1] + 0.3 * u[1] + 0.01 * r.normal();
       return cost;
     }},
    {"pole held upright", 2, 1, 2, 200,
     [](state& x, rl::random& r) {
       x = {r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5)};
     },
     [](state& x, const input& u, int, rl::random&) {
       const double cost = squared(x[0]) + 0.1 * squared(x[1]) + 0.01 * squared(u[0]);
       x[1] = std::clamp(x[1] + 0.05 * (5 * std::sin(x[0]) + 3 * u[0]), -8., 8.);
       x[0] = wrapped(x[0] + 0.05 * x[1]);
       return cost;
     }},
    {"arm of two joints", 6, 2, 1, 100,
     [](state& x, rl::random& r) {
       x = {r.uniform(-1, 1), r.uniform(-1, 1), 0, 0, r.uniform(-1.2, 1.2), r.uniform(-1.2, 1.2)};
     },
     [](state& x, const input& u, int, rl::random&) {
       for (const std::size_t j : {0U, 1U}) {
         x[2 + j] = 0.9 * x[2 + j] + 0.3 * u[j];
         x[j] = wrapped(x[j] + 0.2 * x[2 + j]);
       }
       const double across = std::cos(x[0]) + std::cos(x[0] + x[1]), up = std::sin(x[0]) + std::sin(x[0] + x[1]);
       return squared(across - x[4]) + squared(up - x[5]) + 0.01 * (squared(u[0]) + squared(u[1]));
     }},
    {"follow a wave", 4, 1, 2, 150,
     [](state& x, rl::random& r) {
       const double phase = r.uniform(0, 2 * std::numbers::pi);
       x = {r.uniform(-2, 2), 0, std::sin(phase), std::cos(phase)};
     },
     [](state& x, const input& u, int, rl::random& r) {
       x[1] += 0.2 * (u[0] - x[1]);
       x[0] += 0.2 * x[1] + 0.01 * r.normal();
       const double sine = x[2], cosine = x[3];
       x[2] = sine * std::cos(0.1) + cosine * std::sin(0.1);
       x[3] = cosine * std::cos(0.1) - sine * std::sin(0.1);
       return squared(x[0] - x[2]) + 0.01 * squared(u[0]);
     }},
    {"tank behind a slow valve", 3, 1, 1, 150,
     [](state& x, rl::random& r) {
       x = {r.uniform(0, 4), 0.5, r.uniform(1, 3)};
     },
     [](state& x, const input& u, int, rl::random& r) {
       x[1] = std::clamp(x[1] + 0.1 * u[0], 0., 1.);
       x[0] = std::clamp(x[0] + 0.4 * x[1] - 0.15 * std::sqrt(std::max(0., x[0])) + 0.01 * r.normal(), 0., 10.);
       return squared(x[0] - x[2]) + 0.02 * squared(u[0]);
     }},
    {"three masses on springs", 6, 2, 2, 200,
     [](state& x, rl::random& r) {
       for (double& one : x) one = r.uniform(-1, 1);
     },
     [](state& x, const input& u, int, rl::random& r) {
       double cost = 0.02 * (squared(u[0]) + squared(u[1]));
       for (const double one : x) cost += squared(one);
       const double left = x[1] - x[0], right = x[2] - x[1];
       x[3] += 0.1 * (left - x[0] + u[0] + 0.3 * r.normal());
       x[4] += 0.1 * (right - left);
       x[5] += 0.1 * (-right - x[2] + u[1]);
       for (std::size_t j = 0; j < 3; ++j) x[j] += 0.1 * x[3 + j];
       return cost;
     }},
    {"lander with one engine", 3, 1, 1, 120,
     [](state& x, rl::random& r) {
       x = {r.uniform(5, 10), r.uniform(-2, 0), 1};
     },
     [](state& x, const input& u, int t, rl::random&) {
       const double push = (u[0] + 1) * std::min(1., x[2] * 50);
       x[2] = std::max(0., x[2] - 0.005 * push);
       x[1] += 0.1 * (push - 1);
       x[0] += 0.1 * x[1];
       if (x[0] > 0) return t == 119 ? 100 + 0.02 * push : 0.05 + 0.02 * push;
       const double crash = 10 * squared(x[1]);  // the ground: the lander stands, and the rest of the time is free
       x[0] = x[1] = 0;
       return crash;
     }},
    {"boat in a current", 4, 2, 1, 100,
     [](state& x, rl::random& r) {
       x = {r.uniform(-5, 5), r.uniform(-5, 5), r.uniform(-0.5, 0.5), r.uniform(-0.5, 0.5)};
     },
     [](state& x, const input& u, int, rl::random& r) {
       for (const std::size_t j : {0U, 1U}) {
         x[j] += 0.5 * u[j] + 0.3 * x[2 + j] + 0.02 * r.normal();
         x[2 + j] = std::clamp(x[2 + j] + 0.02 * r.normal(), -1., 1.);
       }
       return std::abs(x[0]) + std::abs(x[1]);
     }},
    {"store with random demand", 2, 1, 1, 100,
     [](state& x, rl::random& r) {
       x = {r.uniform(0, 100), 10};
     },
     [](state& x, const input& u, int, rl::random& r) {
       const double demand = std::max(0., 10 + 3 * r.normal()), order = 20 * (u[0] + 1) / 2;
       x[0] += x[1] - demand;  // what was ordered a step ago arrives
       x[1] = order;
       const double lost = std::max(0., -x[0]);
       x[0] = std::max(0., x[0]);
       return 0.1 * x[0] + 2 * lost + 0.02 * order;
     }},
}};

/// The environment of one problem.
class plant {
 public:
  explicit plant(int number = 0) : number_(number) {}
  [[nodiscard]] rl::box observation_space() const {
    const auto n = static_cast<std::size_t>(told().states);
    return {std::vector<float>(n, -1000), std::vector<float>(n, 1000)};
  }
  [[nodiscard]] rl::box action_space() const {
    const auto n = static_cast<std::size_t>(told().inputs);
    const auto largest = static_cast<float>(told().largest);
    return {std::vector<float>(n, -largest), std::vector<float>(n, largest)};
  }
  Eigen::VectorXf reset(rl::random& numbers) {
    x_ = {};
    t_ = 0;
    told().begin(x_, numbers);
    numbers_ = rl::random(numbers.bits());
    return seen();
  }
  rl::step<Eigen::VectorXf> step(const std::vector<float>& action) {
    input u{};
    std::ranges::copy(action, u.begin());
    const double cost = told().move(x_, u, t_++, numbers_);
    for (double& one : x_) one = std::clamp(one, -999., 999.);
    return {seen(), -std::min(cost, 1e5), false, t_ == told().steps};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number_, x_, t_, numbers_);
  }

 private:
  [[nodiscard]] const problem& told() const { return problems[static_cast<std::size_t>(number_)]; }
  [[nodiscard]] Eigen::VectorXf seen() const {
    Eigen::VectorXf o(told().states);
    for (Eigen::Index i = 0; i < o.size(); ++i) o[i] = static_cast<float>(x_[static_cast<std::size_t>(i)]);
    return o;
  }

  int number_, t_ = 0;
  state x_{};
  rl::random numbers_;
};

/// The cost of the last evaluation over that of the best one, negative.
template <int number>
offline::result hold(int seed) {
  constexpr std::uint64_t steps = 200'000;
  rl::ppo training(rl::environment<plant>{number}, {.seed = static_cast<std::uint64_t>(seed)});
  double best = 1e300, last = 0;
  rl::report now;
  for (std::uint64_t part = 1; part <= 20; ++part) {
    do now = training.train();
    while (now.steps < steps * part / 20);
    last = -training.evaluate(100).mean_return;
    best = std::min(best, last);
  }
  return {-last / best, "cost " + std::to_string(last) + ", at best " + std::to_string(best)};
}

template <std::size_t... numbers>
std::vector<offline::row> rows_of(std::index_sequence<numbers...>) {
  static constexpr std::array<const char*, sizeof...(numbers)> names = {
      "continuous.integrator", "continuous.unstable", "continuous.pole",   "continuous.arm",  "continuous.wave",
      "continuous.tank",       "continuous.springs",  "continuous.lander", "continuous.boat", "continuous.store"};
  return {{names[numbers], problems[numbers].name, "the last cost over the best one, negative", -1.2, 3, 3,
           hold<static_cast<int>(numbers)>}...};
}

/// PPO with its defaults on each problem.
inline const std::vector<offline::row> rows = rows_of(std::make_index_sequence<problems.size()>());

}  // namespace bench::continuous
