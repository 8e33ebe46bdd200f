// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rows of algorithms that learn from files. Each seed records its own data, learns from that, and gives a number
// that has to reach the row's bar, and a sentence.
#pragma once

#include <unistd.h>
#include <manta/rl.hpp>
#include <manta/rl/offline.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench::offline {

namespace rl = manta::rl;

struct result {
  double value = 0;
  std::string text;
};
struct row {
  const char *name, *environment, *what;
  double bar;
  int seeds, needed;
  result (*run)(int seed);
};

/// What is recorded to a file that is gone at the end.
template <class Policy>
rl::episodes recorded(const char* environment, const Policy& p, const rl::record_options& o) {
  const std::string path = "bench-" + std::to_string(::getpid()) + ".episodes";
  rl::record(path, environment, p, o);
  rl::episodes data = rl::read_episodes(path);
  std::remove(path.c_str());
  return data;
}

/// PPO that keeps the pole upright in all of 100 episodes.
inline rl::trained_policy expert(std::uint64_t seed) {
  rl::ppo training("CartPole-v1", {.seed = seed});
  do training.train();
  while (training.evaluate(100).min_return < 500);
  return training.trained();
}

/// Takes the opposite of what a policy would do, in a part of its steps.
struct contrary : rl::player {
  rl::trained_policy policy;
  double part = 0;
  contrary(rl::trained_policy p, double c) : policy(std::move(p)), part(c) {}
  void act(std::span<const float> o, rl::random& numbers, std::span<float> action) override {
    const int best = policy.act(std::vector<float>(o.begin(), o.end()));
    action[0] = static_cast<float>(numbers.uniform() < part ? 1 - best : best);
  }
};

/// Torques between -1 and 1 by chance, where 2 is allowed.
struct weak_torques : rl::player {
  void act(std::span<const float>, rl::random& numbers, std::span<float> action) override {
    action[0] = static_cast<float>(numbers.uniform(-1, 1));
  }
};

template <class Algorithm>
double after(Algorithm& a, int passes) {
  for (int i = 0; i < passes; ++i) a.train();
  return rl::evaluate("CartPole-v1", a.trained(), 100, {.seed = 1000}).mean_return;
}

inline result clone_expert(int seed) {
  const auto s = static_cast<std::uint64_t>(seed);
  const rl::episodes data = recorded("CartPole-v1", expert(s), {.episodes = 200, .seed = s});
  rl::bc clone(data, {.seed = s});
  const double value = after(clone, 10);
  return {value, "data " + std::to_string(data.mean_return()) + ", clone " + std::to_string(value)};
}

/// Half of the steps are the expert's.
inline result learn_from_mixed(int seed) {
  const auto s = static_cast<std::uint64_t>(seed);
  const rl::trained_policy best = expert(s);
  rl::episodes data = recorded("CartPole-v1", best, {.episodes = 20, .seed = s});
  const std::uint64_t half = data.steps();
  for (const rl::recorded_episode& e :
       recorded("CartPole-v1", rl::own<contrary>(best, 0.7), {.episodes = 1500, .seed = s})) {
    if (data.steps() < 2 * half) data.add(e);
  }
  rl::bc clone(data, {.seed = s});
  rl::marwil better(data, {.seed = s});
  const double of_clone = after(clone, 30), of_better = after(better, 30);
  return {of_clone < 300 ? of_better - of_clone : -1, "data " + std::to_string(data.mean_return()) + ", bc " +
                                                          std::to_string(of_clone) + ", marwil " +
                                                          std::to_string(of_better)};
}

/// The mean value of torques beyond 1.5 minus that of torques within 1, in states of the data.
inline double beyond(const rl::cql& a, const rl::episodes& data) {
  double outside = 0, inside = 0, states = 0;
  for (const rl::recorded_episode& e : data) {
    for (Eigen::Index t = 0; t < e.actions.cols(); t += 20, ++states) {
      const std::vector<float> o(e.observations.col(t).data(), e.observations.col(t).data() + 3);
      for (const float torque : {1.6F, 1.8F, 2.F}) outside += (a.value(o, {torque}) + a.value(o, {-torque})) / 6;
      for (const float torque : {0.1F, 0.5F, 0.9F}) inside += (a.value(o, {torque}) + a.value(o, {-torque})) / 6;
    }
  }
  return (outside - inside) / states;
}

inline result be_careful(int seed) {
  const auto s = static_cast<std::uint64_t>(seed);
  const rl::episodes data = recorded("Pendulum-v1", rl::own<weak_torques>(), {.episodes = 100, .seed = s});
  const auto trained = [&](double alpha) {
    rl::cql a(data, {.seed = s, .alpha = alpha});
    for (int i = 0; i < 10; ++i) a.train();
    return std::pair(beyond(a, data), rl::evaluate("Pendulum-v1", a.trained(), 100, {.seed = 1000}).mean_return);
  };
  const auto [careful, its_return] = trained(1);
  const auto [bold, sac_return] = trained(0);
  const bool holds = careful < 0 && bold > careful && its_return >= data.mean_return();
  return {holds ? 1.0 : 0.0, "beyond 1.5 less within 1: cql " + std::to_string(careful) + ", sac " +
                                 std::to_string(bold) + "; returns: data " + std::to_string(data.mean_return()) +
                                 ", cql " + std::to_string(its_return) + ", sac " + std::to_string(sac_return)};
}

inline const std::vector<row> rows = {
    {"bc.cartpole", "CartPole-v1", "200 episodes of return 500, 10 passes", 450, 5, 5, clone_expert},
    {"marwil.cartpole", "CartPole-v1", "marwil less bc, which is below 300; half of the steps are an expert's", 50, 5,
     4, learn_from_mixed},
    {"cql.pendulum", "Pendulum-v1", "1: torques that the data lacks are valued less, and by sac's rule are not", 1, 3,
     3, be_careful},
};

inline int gate(const row& r, int seeds) {
  int passed = 0;
  std::string all;
  for (int seed = 1; seed <= seeds; ++seed) {
    const result one = r.run(seed);
    passed += one.value >= r.bar;
    std::fprintf(stderr, "%s, seed %d: %s\n", r.name, seed, one.text.c_str());
    char text[64];
    std::snprintf(text, sizeof text, " %.4g", one.value);
    all += text;
  }
  const int needed = (r.needed * seeds + r.seeds - 1) / r.seeds;
  std::printf("| %s | %s | %g: %s | %d of %d (%d) |  |  |  |%s |%s\n", r.name, r.environment, r.bar, r.what, passed,
              seeds, needed, all.c_str(), passed >= needed ? "" : " below the bar");
  return passed >= needed ? 0 : 1;
}

}  // namespace bench::offline
