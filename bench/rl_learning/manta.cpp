// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What algorithms learn: for each row of the table below, and each of its seeds, an algorithm trains until an
// evaluation of 100 episodes on seeds of their own reaches the bar, or until it has taken all its steps. There are
// twenty evaluations on the way. Prints a row of a table: seeds that passed and that have to, the median of the
// last evaluations, the medians of steps and processor seconds, and all returns. scripts/bench rl runs all rows.
//
//   bench_rl_learning_manta --list
//   bench_rl_learning_manta ppo.cartpole [seeds]
#include <manta/rl.hpp>
#if __has_include(<box2d/box2d.h>)
#include <manta/rl/lunar_lander.hpp>
#endif

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "../common/measure.hpp"

namespace rl = manta::rl;

namespace {

struct row {
  const char *name, *algorithm, *environment;
  rl::named_options options;
  std::uint64_t steps;  // at most
  double bar;
  int seeds, needed;
};

const std::vector<row> rows = {
    {"es.cartpole", "es", "CartPole-v1", {}, 300'000, 475, 10, 9},
    {"es.acrobot", "es", "Acrobot-v1", {}, 500'000, -100, 10, 9},
    {"es.mountain_car", "es", "MountainCar-v0", {}, 2'000'000, -110, 10, 9},
    {"ppo.cartpole", "ppo", "CartPole-v1", {}, 100'000, 475, 10, 10},
    {"ppo.acrobot", "ppo", "Acrobot-v1", {}, 500'000, -100, 5, 4},
    {"ppo.pendulum", "ppo", "Pendulum-v1", {}, 200'000, -250, 5, 4},
    {"ppo.lunar_lander", "ppo", "LunarLander-v3", {}, 1'000'000, 200, 5, 4},
    {"a2c.cartpole", "a2c", "CartPole-v1", {}, 500'000, 475, 10, 8},
    {"a3c.cartpole", "a3c", "CartPole-v1", {}, 500'000, 475, 10, 8},
    {"dqn.cartpole", "dqn", "CartPole-v1", {}, 60'000, 475, 5, 4},
    {"dqn.mountain_car", "dqn", "MountainCar-v0", {}, 150'000, -115, 5, 3},
    {"sac.pendulum", "sac", "Pendulum-v1", {}, 15'000, -200, 5, 4},
    {"sac.mountain_car", "sac", "MountainCarContinuous-v0", {}, 50'000, 90, 5, 3},
    {"td3.pendulum", "td3", "Pendulum-v1", {}, 15'000, -200, 5, 4},
    {"td3.mountain_car", "td3", "MountainCarContinuous-v0", {}, 50'000, 90, 5, 3},
    {"impala.cartpole", "impala", "CartPole-v1", {{"lag", "5"}}, 300'000, 475, 5, 4},
};

struct result {
  double value = 0, steps = 0, seconds = 0;
};

result train(const row& r, int seed) {
  rl::named_options options = r.options;
  options["seed"] = std::to_string(seed);
  const std::clock_t begin = std::clock();
  const auto algorithm = rl::make_algorithm(r.algorithm, std::string(r.environment), options);
  rl::report last;
  for (int part = 1;; ++part) {
    const std::uint64_t until = r.steps * static_cast<std::uint64_t>(part) / 20;
    do last = algorithm->train();
    while (last.steps < until);
    const double value = algorithm->evaluate(100).mean_return;
    if (value >= r.bar || last.steps >= r.steps)
      return {value, static_cast<double>(last.steps), static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
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
    values.push_back(one.value);
    steps.push_back(one.steps);
    seconds.push_back(one.seconds);
    passed += one.value >= r.bar;
    char text[32];
    std::snprintf(text, sizeof text, "%s%.4g", all.empty() ? "" : " ", one.value);
    all += text;
  }
  const int needed = (r.needed * seeds + r.seeds - 1) / r.seeds;
  std::printf("| %s | %s | %.0f in %lu k | %d of %d (%d) | %.4g | %.0f k | %.1f | %s |%s\n", r.algorithm, r.environment,
              r.bar, static_cast<unsigned long>(r.steps / 1000), passed, seeds, needed, median(values),
              median(steps) / 1000, median(seconds), all.c_str(), passed >= needed ? "" : " below the bar");
  return passed >= needed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "--list";
  if (name == "--list") {
    for (const row& r : rows) std::puts(r.name);
    return 0;
  }
  const auto found = std::ranges::find(rows, name, &row::name);
  if (found == rows.end()) return bench::failed("rl_learning", ("there is no row " + name + "; see --list").c_str());
  return manta::run(argc, argv, [&] { return gate(*found, argc > 2 ? std::stoi(argv[2]) : found->seeds); });
}
