// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions whose minima are known, and what a searcher's regret on them is. For
// tests and for benchmarks: needs neither MPI nor doctest.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "manta/tune/searcher.hpp"

namespace manta::testing {

namespace tune = manta::tune;

struct problem {
  tune::space where;
  double least;
  double (*f)(const tune::config&);
};

inline double branin(const tune::config& c) {
  using std::numbers::pi;
  const double x = c["x"], y = c["y"];
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}
inline double hartmann6(const tune::config& c) {
  static constexpr double alpha[4] = {1.0, 1.2, 3.0, 3.2};
  static constexpr double A[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {.05, 10, 17, .1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, .05, 10, .1, 14}};
  static constexpr double P[4][6] = {{1312, 1696, 5569, 124, 8283, 5886},
                                     {2329, 4135, 8307, 3736, 1004, 9991},
                                     {2348, 1451, 3522, 2883, 3047, 6650},
                                     {4047, 8828, 8732, 5743, 1091, 381}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double inner = 0;
    int j = 0;
    for (const auto& [name, v] : c) {
      const double d = v.as<double>() - 1e-4 * P[i][j];
      inner += A[i][j++] * d * d;
    }
    sum -= alpha[i] * std::exp(-inner);
  }
  return sum;
}
inline const problem branin_problem = {
    {{"x", tune::uniform(-5, 10)}, {"y", tune::uniform(0, 15)}}, 0.39788735772973816, branin};
inline const problem hartmann_problem = {{{"a", tune::uniform(0, 1)},
                                          {"b", tune::uniform(0, 1)},
                                          {"c", tune::uniform(0, 1)},
                                          {"d", tune::uniform(0, 1)},
                                          {"e", tune::uniform(0, 1)},
                                          {"f", tune::uniform(0, 1)}},
                                         -3.32236801141551,
                                         hartmann6};

/// The regret after each trial; `batch` are asked for before any is told.
template <class Searcher>
std::vector<double> regrets(Searcher s, const problem& p, std::size_t trials, std::uint64_t seed,
                            std::size_t batch = 1) {
  s.begin(p.where, seed);
  std::vector<double> all;
  double best = tune::infinity;
  for (std::size_t t = 0; t < trials; t += batch) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < batch; ++i) losses.push_back(p.f(*s.ask(t + i)));
    for (std::size_t i = 0; i < batch; ++i) {
      s.tell(t + i, losses[i]);
      best = std::min(best, losses[i]);
      all.push_back(best - p.least);
    }
  }
  return all;
}
/// At some budgets, for each the regrets of all seeds in ascending order.
template <class Searcher>
std::vector<std::vector<double>> study(const Searcher& s, const problem& p, const std::vector<std::size_t>& budgets,
                                       std::uint64_t seeds, std::size_t batch = 1) {
  std::vector<std::vector<double>> all(budgets.size());
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto r = regrets(s, p, budgets.back(), seed + 1, batch);
    for (std::size_t i = 0; i < budgets.size(); ++i) all[i].push_back(r[budgets[i] - 1]);
  }
  for (auto& a : all) std::sort(a.begin(), a.end());
  return all;
}
inline double middle(const std::vector<double>& ascending) { return tune::sorted_quantile(ascending, 0.5); }
inline double p90(const std::vector<double>& ascending) { return tune::sorted_quantile(ascending, 0.9); }

/// Mixed, with conditions: the best is "b", n = 7, x near 0.2.
inline double mixed(const tune::config& c) {
  if (c["kind"] == "a") return 1 + c.get<double>("z");
  return std::abs(c.get<double>("x") - 0.2) + 0.1 * std::abs(c.get<int>("n") - 7);
}
inline const problem mixed_problem = {
    {{"kind", tune::choice({"a", "b", "c"})},
     {"z", tune::uniform(0, 1).when("kind", "a")},
     {"x", tune::loguniform(1e-3, 1).when([](const tune::config& c) { return !(c["kind"] == "a"); })},
     {"n", tune::integers(1, 20).when([](const tune::config& c) { return !(c["kind"] == "a"); })}},
    0,
    mixed};

}  // namespace manta::testing
