// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What algorithms learn: for each row of the table below, and each of its seeds, an algorithm trains until an
// evaluation of 100 episodes on seeds of their own reaches the bar, or until it has taken all its steps. There are
// twenty evaluations on the way. A row with a second bar trains to the end, and the last evaluation has to reach
// that one; or no evaluation may be above it, where a row shows what another one needs. Prints a row of a table:
// seeds that passed and that have to, the median of the last evaluations, the medians of steps and processor
// seconds, and all returns: the last one, and after a slash the best one where it differs. Each seed has a line on
// standard error when it ends. scripts/bench rl runs all rows. Those of offline.hpp, which learn from files, of
// multi.hpp, several policies in one game, and of continuous.hpp, ten problems of control, have bars of their own kinds.
//
//   bench_rl_learning_manta --list
//   bench_rl_learning_manta ppo.cartpole [seeds]
#include <manta/rl.hpp>
#include <manta/rl/pets.hpp>
#if __has_include(<box2d/box2d.h>)
#include <manta/rl/lunar_lander.hpp>
#endif

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "../common/measure.hpp"
#include "continuous.hpp"
#include "multi.hpp"
#include "offline.hpp"

namespace rl = manta::rl;

namespace {

/// CartPole whose velocities are not seen.
struct blind_pole : rl::cart_pole {
  static rl::box observation_space() { return {{-4.8F, -0.42F}, {4.8F, 0.42F}}; }
  std::array<float, 2> reset(rl::random& numbers) { return seen(rl::cart_pole::reset(numbers)); }
  rl::step<std::array<float, 2>> step(int action) {
    const auto s = rl::cart_pole::step(action);
    return {seen(s.observation), s.reward, s.terminated, s.truncated};
  }
  static std::array<float, 2> seen(const std::array<float, 4>& o) { return {o[0], o[2]}; }
};

/// Which of two cues the first step has shown is to be said twenty steps later.
struct cue {
  int shown = 0, t = 0;
  static rl::box observation_space() { return {{-1, 0}, {1, 1}}; }
  static rl::discrete action_space() { return {2}; }
  std::array<float, 2> reset(rl::random& numbers) {
    shown = numbers.index(2);
    t = 0;
    return seen();
  }
  rl::step<std::array<float, 2>> step(int action) {
    const bool ends = t++ == 20;
    return {seen(), ends && action == shown ? 1.0 : 0.0, ends, false};
  }
  [[nodiscard]] std::array<float, 2> seen() const {
    return {t > 0 ? 0.F : shown == 1 ? 1.F : -1.F, t == 20 ? 1.F : 0.F};
  }
};

struct row {
  const char *name, *algorithm, *environment;
  rl::named_options options;
  std::uint64_t steps;  // at most
  double bar;           // of the best evaluation
  int seeds, needed;
  double last = -1e9;  // of the last evaluation
  double most = 1e9;   // no evaluation may be above it: the row shows what another one needs
  int episodes = 100;  // of an evaluation
  [[nodiscard]] bool goes_to_the_end() const { return last > -1e9 || most < 1e9; }
};

/// As published settings for MinAtar have it: many environments, few passes, large batches.
const rl::named_options breakout_options = {{"conv", "16x3x1"},  {"hidden", "128"},  {"environments", "64"},
                                            {"fragment", "128"}, {"epochs", "4"},    {"batch", "256"},
                                            {"rate", "1e-3"},    {"entropy", "0.01"}};

/// Old weights and a high rate: what V-trace is for.
const rl::named_options old_weights = {{"lag", "10"}, {"rate", "3e-3"}},
                        without_v_trace = {{"lag", "10"}, {"rate", "3e-3"}, {"v_trace", "false"}};

const std::vector<row> rows = {
    {"es.cartpole", "es", "CartPole-v1", {}, 300'000, 475, 10, 9},
    {"es.acrobot", "es", "Acrobot-v1", {}, 500'000, -100, 10, 9},
    {"es.mountain_car", "es", "MountainCar-v0", {}, 2'000'000, -110, 10, 9},
    {"ppo.cartpole", "ppo", "CartPole-v1", {}, 100'000, 475, 10, 10},
    {"ppo.acrobot", "ppo", "Acrobot-v1", {}, 500'000, -100, 5, 4},
    {"ppo.pendulum", "ppo", "Pendulum-v1", {}, 200'000, -250, 5, 4},
    {"ppo.lunar_lander", "ppo", "LunarLander-v3", {}, 1'000'000, 200, 5, 4},
    {"ars.cartpole", "ars", "CartPole-v1", {}, 300'000, 475, 10, 9},
    {"a2c.cartpole", "a2c", "CartPole-v1", {}, 500'000, 475, 10, 8},
    {"a3c.cartpole", "a3c", "CartPole-v1", {}, 500'000, 475, 10, 8},
    {"dqn.cartpole", "dqn", "CartPole-v1", {}, 60'000, 475, 5, 4, 400},
    {"dqn.mountain_car", "dqn", "MountainCar-v0", {}, 150'000, -115, 5, 3},
    {"sac.pendulum", "sac", "Pendulum-v1", {}, 15'000, -200, 5, 4},
    {"sac.mountain_car", "sac", "MountainCarContinuous-v0", {}, 50'000, 90, 5, 3},
    {"sac.pendulum_dreams", "sac", "Pendulum-v1", {{"dream_models", "5"}}, 2'000, -200, 5, 3},
    {"pets.pendulum", "pets", "Pendulum-v1", {}, 5'000, -250, 5, 4, -1e9, 1e9, 10},  // each action is a plan
    {"td3.pendulum", "td3", "Pendulum-v1", {}, 15'000, -200, 5, 4},
    {"td3.mountain_car", "td3", "MountainCarContinuous-v0", {}, 50'000, 90, 5, 3},
    {"impala.cartpole", "impala", "CartPole-v1", {{"lag", "5"}}, 300'000, 475, 5, 4},
    {"impala.old", "impala", "CartPole-v1", old_weights, 150'000, 475, 8, 6, 475},
    {"impala.old_plain", "impala", "CartPole-v1", without_v_trace, 150'000, 475, 8, 0, 475},
    {"memory.cartpole", "ppo", "blind CartPole", {{"hidden", "64"}, {"lstm", "64"}}, 300'000, 400, 5, 4},
    {"memory.cue_lstm", "ppo", "cue", {{"hidden", "32"}, {"lstm", "32"}}, 200'000, 0.95, 5, 4},
    {"memory.cue_attention", "ppo", "cue", {{"hidden", "32"}, {"attention", "2"}}, 200'000, 0.95, 5, 4},
    {"memory.cue_plain", "ppo", "cue", {{"hidden", "32,32"}}, 200'000, 0, 5, 5, -1e9, 0.65},
    {"ppo.breakout", "ppo", "MinAtar/Breakout-v1", breakout_options, 2'000'000, 10, 3, 2},
};

struct result {
  double best = -1e9, last = 0, steps = 0, seconds = 0;
};

result train(const row& w, int seed) {
  rl::named_options options = w.options;
  options["seed"] = std::to_string(seed);
  const std::clock_t begin = std::clock();
  const auto algorithm = rl::make_algorithm(w.algorithm, std::string(w.environment), options);
  rl::report now;
  result r;
  for (int part = 1;; ++part) {
    const std::uint64_t until = w.steps * static_cast<std::uint64_t>(part) / 20;
    do now = algorithm->train();
    while (now.steps < until);
    r.last = algorithm->evaluate(w.episodes).mean_return;
    r.best = std::max(r.best, r.last);
    if (now.steps < w.steps && (r.best < w.bar || w.goes_to_the_end())) continue;
    r.steps = static_cast<double>(now.steps);
    r.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return r;
  }
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return (v[v.size() / 2] + v[(v.size() - 1) / 2]) / 2;
}

int gate(const row& r, int seeds) {
  std::vector<double> values, steps, seconds;
  int passed = 0;
  std::string all;
  for (int seed = 1; seed <= seeds; ++seed) {
    const result one = train(r, seed);
    values.push_back(one.last);
    steps.push_back(one.steps);
    seconds.push_back(one.seconds);
    passed += one.best >= r.bar && one.last >= r.last && one.best <= r.most;
    std::fprintf(stderr, "%s, seed %d: %.4g, at best %.4g, after %.0f steps and %.1f s\n", r.name, seed, one.last,
                 one.best, one.steps, one.seconds);
    char text[64];
    std::snprintf(text, sizeof text, one.best > one.last ? " %.4g/%.4g" : " %.4g", one.last, one.best);
    all += text;
  }
  const int needed = (r.needed * seeds + r.seeds - 1) / r.seeds;
  std::printf("| %s | %s | %g in %lu k | %d of %d (%d) | %.4g | %.0f k | %.1f |%s |%s\n", r.name, r.environment, r.bar,
              static_cast<unsigned long>(r.steps / 1000), passed, seeds, needed, median(values), median(steps) / 1000,
              median(seconds), all.c_str(), passed >= needed ? "" : " below the bar");
  return passed >= needed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "--list";
  if (name == "--list") {
    for (const row& r : rows) std::puts(r.name);
    for (const auto* group : {&bench::offline::rows, &bench::multi::rows, &bench::continuous::rows}) {
      for (const auto& r : *group) std::puts(r.name);
    }
    return 0;
  }
  for (const auto* group : {&bench::offline::rows, &bench::multi::rows, &bench::continuous::rows}) {
    const auto own = std::ranges::find(*group, name, &bench::offline::row::name);
    if (own != group->end())
      return manta::run(argc, argv,
                        [&] { return bench::offline::gate(*own, argc > 2 ? std::stoi(argv[2]) : own->seeds); });
  }
  const auto found = std::ranges::find(rows, name, &row::name);
  if (found == rows.end()) return bench::failed("rl_learning", ("there is no row " + name + "; see --list").c_str());
  rl::register_algorithm<rl::pets>("pets");
  rl::register_environment("blind CartPole", rl::environment<blind_pole>().with_time_limit(500));
  rl::register_environment("cue", rl::environment<cue>());
  return manta::run(argc, argv, [&] { return gate(*found, argc > 2 ? std::stoi(argv[2]) : found->seeds); });
}
