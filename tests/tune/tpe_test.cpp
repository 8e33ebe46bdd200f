// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// TPE on functions whose minima are known.
// Bounds are medians of Optuna 3.1.0's TPE at the same budgets, over 200 seeds (Hartmann-6 after 200 trials: 80, and what they err by).
#include <doctest/doctest.h>

#include "manta/tune/random_search.hpp"
#include "manta/tune/tpe.hpp"
#include "support/search.hpp"

namespace tune = manta::tune;
using namespace manta::testing;

namespace {
/// What a searcher reaches in 150 trials: medians over seeds.
double reached(tune::any_searcher with, const tune::space& where, double (*f)(const tune::config&)) {
  std::vector<double> bests;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    tune::any_searcher s = with.clone();
    s->begin(where, seed);
    double best = tune::infinity;
    for (std::uint64_t t = 0; t < 150; ++t) {
      const double loss = f(*s->ask(t));
      s->tell(t, loss);
      best = std::min(best, loss);
    }
    bests.push_back(best);
  }
  return tune::median(bests);
}
double square(double x) { return x * x; }

/// Two pairs, each of which lies where a hyperbola and a line meet.
double products(const tune::config& c) {
  const double a = c["a"], b = c["b"], d = c["d"], e = c["e"];
  return 20 * square(a * b - 0.35) + square(a + b - 1.3) + 20 * square(d * e + 0.4) + square(d - e - 1.3);
}
/// Options of equal number fit each other, and each wants a number of its own.
double fitting(const tune::config& c) {
  const int a = c["a"], b = c["b"];
  const double x = c["x"], y = c["y"];
  return (a == b ? 0 : 0.8) + 3 * square(x - 0.2 * a - 0.1) + 3 * square(y - 0.9 + 0.2 * b);
}
}  // namespace

TEST_CASE("parameters that are chosen together find what only works together, and more than those chosen alone") {
  const tune::domain wide = tune::uniform(-2, 2), even = tune::uniform(0, 1), four = tune::choice({0, 1, 2, 3});
  const tune::space numbers = {{"a", wide}, {"b", wide}, {"d", wide}, {"e", wide}};
  const tune::space options = {{"a", four}, {"b", four}, {"x", even}, {"y", even}};
  for (const auto& [where, f] : {std::pair(numbers, &products), std::pair(options, &fitting)}) {
    const double alone = reached(tune::tpe(), where, f),
                 together = reached(tune::tpe({.multivariate = true}), where, f),
                 by_chance = reached(tune::random_search(), where, f);
    INFO("alone " << alone << ", together " << together << ", by chance " << by_chance);
    CHECK(together < 0.8 * alone);
    CHECK(together < 0.1 * by_chance);
  }
}

TEST_CASE("a program may give one name other options, or no number, from one configuration to the next") {
  const tune::space where([](tune::chooser& choose) {
    const bool small = choose("small", tune::choice({true, false}));
    choose("what", small ? tune::choice({"a", "b"}) : tune::choice({"c", "d", "e"}));
    const int n = choose("n", tune::integers(1, 3));
    for (int i = 0; i < n; ++i) choose("x" + std::to_string(i), tune::uniform(0, 1));
    choose("last", small ? tune::uniform(0, 1) : tune::choice({"u", "v"}));
  });
  const auto loss = [](const tune::config& c) {
    return (c.get<std::string>("what") == "d" ? 0 : 0.5) + (c.get<int>("n") == 2 ? 0 : 0.5) +
           std::abs(c.get<double>("x0") - 0.3);
  };
  for (const tune::any_searcher& with :
       {tune::any_searcher(tune::tpe()), tune::any_searcher(tune::tpe({.multivariate = true}))}) {
    tune::any_searcher s = with.clone();
    s->begin(where, 3);
    double best = tune::infinity;
    for (std::uint64_t t = 0; t < 100; ++t) {
      const tune::config c = *s->ask(t);
      s->tell(t, loss(c));
      best = std::min(best, loss(c));
    }
    CHECK(best < 0.1);
  }
}

TEST_CASE("TPE is no worse than Optuna's at the same budgets") {
  const auto b = study(tune::tpe(), branin_problem, {50, 100}, 100);
  const auto m = study(tune::tpe({.multivariate = true}), branin_problem, {50, 100}, 60);
  const auto h = study(tune::tpe(), hartmann_problem, {50, 100, 200}, 200);
  INFO("branin " << middle(b[0]) << " " << middle(b[1]) << " (p90 " << p90(b[0]) << " " << p90(b[1])
                 << "), multivariate " << middle(m[0]) << " " << middle(m[1]) << " (p90 " << p90(m[0]) << " "
                 << p90(m[1]) << "), hartmann " << middle(h[0]) << " " << middle(h[1]) << " " << middle(h[2])
                 << " (p90 " << p90(h[2]) << ")");
  CHECK(middle(b[0]) <= 0.159);
  CHECK(middle(b[1]) <= 0.030);
  CHECK(p90(b[1]) <= 0.109);
  CHECK(middle(m[0]) <= 0.210);
  CHECK(middle(m[1]) <= 0.102);
  CHECK(middle(h[0]) <= 0.581);
  CHECK(middle(h[1]) <= 0.244);
  CHECK(middle(h[2]) <= 0.074 * 1.15);
  CHECK(p90(h[2]) <= 0.230 * 1.15);
}

TEST_CASE("TPE handles choices, integers, logarithms and conditions") {
  const double chance = middle(study(tune::random_search(), mixed_problem, {60}, 15)[0]);
  CHECK(middle(study(tune::tpe(), mixed_problem, {60}, 15)[0]) < 0.7 * chance);
  CHECK(middle(study(tune::tpe({.multivariate = true}), mixed_problem, {60}, 15)[0]) < 0.7 * chance);
}

TEST_CASE("TPE learns in a space that is defined by running") {
  const problem p = {tune::space([](tune::chooser& choose) {
                       const int n = choose("n", tune::integers(1, 3));
                       for (int i = 0; i < n; ++i) choose("w" + std::to_string(i), tune::uniform(0, 1));
                     }),
                     0, [](const tune::config& c) {
                       double sum = 3 - c.get<double>("n");
                       for (const auto& [name, v] : c) sum += name[0] == 'w' ? std::abs(v.as<double>() - 0.5) : 0;
                       return sum;
                     }};
  CHECK(middle(study(tune::tpe(), p, {100}, 15)[0]) < 0.6 * middle(study(tune::random_search(), p, {100}, 15)[0]));
}

TEST_CASE("what was asked before a kill is not asked again, and the search goes on as it would have") {
  for (const bool multivariate : {false, true}) {
    check_continues(tune::tpe({.multivariate = multivariate}));
    check_continues(tune::tpe({.multivariate = multivariate}), mixed_problem);
  }
}
