// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functional analysis of variance: partitions whose variances can be computed by
// hand, and functions whose shares are known.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "manta/tune/asha.hpp"
#include "manta/tune/fanova.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/sobol.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using tune::detail::regression_tree;
using tune::detail::samples;
using box = regression_tree::box;

namespace {

/// A box of the square.
box on_square(double x0, double x1, double y0, double y1, double value) {
  return {{x0, y0}, {x1, y1}, value, (x1 - x0) * (y1 - y0)};
}

tune::detail::variance_table shares_of(const std::vector<box>& boxes) {
  tune::detail::variance_table table(2);
  table.add(boxes, boxes);
  return table;
}

samples sampled(std::size_t n, std::size_t axes, const std::function<double(const std::vector<double>&)>& f) {
  tune::random r(11);
  samples s;
  for (std::size_t i = 0; i < n; ++i) {
    auto& point = s.points.emplace_back(axes);
    for (double& u : point) u = r.uniform();
    s.values.push_back(f(point));
  }
  return s;
}

double share_of(const std::vector<tune::effect>& effects, const std::vector<std::string>& parameters) {
  for (const tune::effect& e : effects) {
    if (e.parameters == parameters) return e.share;
  }
  return -1;
}

}  // namespace

TEST_CASE("fanova: the variances of a partition are exact") {
  // A step of height 2 at x = 1/4 plus one of height 1 at y = 1/2: variances 4 * 3/16 and 1/4.
  const auto sum = shares_of({on_square(0, .25, 0, .5, 0), on_square(.25, 1, 0, .5, 2), on_square(0, .25, .5, 1, 1),
                              on_square(.25, 1, .5, 1, 3)});
  CHECK(sum.share(0, 0) == doctest::Approx(0.75));
  CHECK(sum.share(1, 1) == doctest::Approx(0.25));
  CHECK(sum.share(0, 1) == doctest::Approx(0));
  // A chess board: nothing alone, everything together.
  const auto chess = shares_of(
      {on_square(0, .5, 0, .5, 7), on_square(.5, 1, 0, .5, 5), on_square(0, .5, .5, 1, 5), on_square(.5, 1, .5, 1, 7)});
  CHECK(chess.share(0, 0) == doctest::Approx(0));
  CHECK(chess.share(1, 1) == doctest::Approx(0));
  CHECK(chess.share(0, 1) == doctest::Approx(1));
  // Both at once, x and y: variance 1/4 * 3/4; that of the means over the other axis 1/2 * 1/2 * 1/4 each.
  const auto both = shares_of({on_square(0, .5, 0, 1, 0), on_square(.5, 1, 0, .5, 0), on_square(.5, 1, .5, 1, 1)});
  for (const double share : {both.share(0, 0), both.share(1, 1), both.share(0, 1)})
    CHECK(share == doctest::Approx(1.0 / 3));
  const auto flat = shares_of({on_square(0, 1, 0, 1, 4)});
  CHECK((flat.share(0, 0) == 0 && flat.share(0, 1) == 0));
}

TEST_CASE("fanova: a tree finds the steps of a function, and its boxes fill the cube") {
  const samples s = sampled(400, 2, [](const auto& u) { return (u[0] < 0.25 ? 0 : 2) + (u[1] < 0.5 ? 0 : 1); });
  std::vector<std::size_t> all(s.points.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  tune::random r(1);
  const regression_tree tree(s, all, 1, r);
  REQUIRE(tree.boxes().size() == 4U);
  double volume = 0;
  for (const box& b : tree.boxes()) volume += b.volume;
  CHECK(volume == doctest::Approx(1));
  const auto shares = shares_of(tree.boxes());
  CHECK(shares.share(0, 0) == doctest::Approx(0.75).epsilon(0.03));
  CHECK(shares.share(1, 1) == doctest::Approx(0.25).epsilon(0.03));
}

TEST_CASE("fanova: functions with known shares") {
  const auto sum = tune::detail::forest_variances(sampled(400, 3, [](const auto& u) { return 10 * u[0] + 5 * u[1]; }),
                                                  {.trees = 16});
  CHECK(sum.share(0, 0) == doctest::Approx(0.8).epsilon(0.05));
  CHECK(sum.share(1, 1) == doctest::Approx(0.2).epsilon(0.15));
  CHECK(sum.share(2, 2) < 0.01);
  CHECK(sum.share(0, 1) < 0.03);

  const auto product = tune::detail::forest_variances(
      sampled(400, 2, [](const auto& u) { return (u[0] - 0.5) * (u[1] - 0.5); }), {.trees = 16});
  CHECK(product.share(0, 1) > 0.85);
  CHECK(product.share(0, 0) + product.share(1, 1) < 0.12);

  // Ishigami's function on the cube of width 2 pi: 0.314, 0.442, 0, and 0.244 of the first and third together.
  const auto f = [](const std::vector<double>& u) {
    const auto at = [&](std::size_t k) { return (2 * u[k] - 1) * std::numbers::pi; };
    return std::sin(at(0)) + 7 * std::pow(std::sin(at(1)), 2) + 0.1 * std::pow(at(2), 4) * std::sin(at(0));
  };
  const auto ishigami = tune::detail::forest_variances(sampled(1000, 3, f), {.trees = 16});
  CHECK(std::abs(ishigami.share(0, 0) - 0.314) < 0.07);
  CHECK(std::abs(ishigami.share(1, 1) - 0.442) < 0.07);
  CHECK(ishigami.share(2, 2) < 0.03);
  CHECK(std::abs(ishigami.share(0, 2) - 0.244) < 0.07);
}

TEST_CASE("fanova of a study: choices, conditions, failed and stopped trials; the same for the same seed") {
  const tune::space where = {{"opt", tune::choice({"a", "b", "c"})}, {"x", tune::uniform(0, 1)},
                             {"y", tune::loguniform(1e-3, 1)},       {"m", tune::uniform(0, 1).when("opt", "b")},
                             {"one", tune::uniform(2, 2)},           {"fixed", 3}};
  tune::study s(where, {.minimise = "loss", .trials = 300, .searcher = tune::sobol_search()});
  while (const auto j = s.next()) {
    const double x = j->parameters["x"], y = std::log10(j->parameters.get<double>("y")) / 3 + 1;
    // "a" is worse by 1; x and y matter only together, by up to 1 (variance 1/9); m does not matter.
    const double loss = (j->parameters["opt"] == "a" ? 1 : 0) + (2 * x - 1) * (2 * y - 1);
    s.report(j->trial, {{"loss", loss}});
    if (j->trial % 50 == 7) s.failed(j->trial, "no memory");
    else s.ended(j->trial);
  }
  const tune::results r(s);
  const auto effects = r.effects(where, {.by_rank = false}), ranked = r.effects(where);
  REQUIRE(effects.size() == 10U);  // four parameters and six pairs
  for (std::size_t i = 1; i < effects.size(); ++i) CHECK(effects[i - 1].share >= effects[i].share);
  // The variance of the choice is 2/9: two thirds.
  // The pair explains a third; with so few trials the trees find the larger part of it.
  CHECK(share_of(effects, {"opt"}) == doctest::Approx(2.0 / 3).epsilon(0.2));
  CHECK(share_of(effects, {"x", "y"}) > 0.15);
  CHECK(share_of(effects, {"m"}) < 0.03);
  CHECK(share_of(effects, {"x"}) < 0.06);
  CHECK(ranked.front().parameters == std::vector<std::string>{"opt"});
  CHECK(share_of(ranked, {"x", "y"}) > 0.1);
  CHECK(share_of(ranked, {"x", "y"}) > share_of(ranked, {"x"}));
  CHECK(tune::fanova_trials(s.trials()).trials == 300U);
  CHECK(tune::fanova_trials(s.trials(), {.by_rank = false}).trials == 294U);  // without those that failed
  const auto again = r.effects(where);
  for (std::size_t i = 0; i < ranked.size(); ++i) CHECK(again[i].share == ranked[i].share);
  const auto few = r.effects(where, {.most_trials = 100});
  CHECK(few.front().parameters == std::vector<std::string>{"opt"});
  CHECK(few.front().share != ranked.front().share);
}

TEST_CASE("importance: a product is that of both, and trials that were stopped early do not mislead it") {
  const tune::space curve = {{"speed", tune::uniform(0, 1)}, {"quality", tune::uniform(0, 1)}};
  for (const bool stops : {false, true}) {
    tune::experiment e = {.minimise = "loss", .trials = 200, .stop = {tune::after(27)}};
    if (stops) e.scheduler = tune::asha({.max = 27, .grace = 1, .eta = 3});
    tune::study s(curve, e);
    while (const auto j = s.next()) {
      const double speed = j->parameters["speed"], quality = j->parameters["quality"];
      tune::answer a;
      for (int epoch = 1; a.what == tune::verdict::kind::go_on; ++epoch)
        a = s.report(j->trial, {{"loss", quality / 2 + 1.5 * std::exp(-(0.2 + 0.8 * speed) * epoch)}});
    }
    s.finish();
    const auto shares = tune::results(s).importance(curve);
    CHECK(shares[0].first == "quality");
    CHECK(shares[0].second > (stops ? 0.6 : 0.9));
    CHECK((tune::fanova_trials(s.trials()).trials < 200U) == stops);
    CHECK(tune::fanova_trials(s.trials()).trials >= 20U);
    CHECK((stops || tune::is_infinite(tune::fanova_trials(s.trials()).at)));  // else at their ends
  }
  const tune::space three = {{"a", tune::uniform(-1, 1)}, {"b", tune::uniform(-1, 1)}, {"c", tune::uniform(-1, 1)}};
  tune::study s(three, {.minimise = "loss", .trials = 400});
  while (const auto j = s.next()) {
    const double a = j->parameters["a"], b = j->parameters["b"], c = j->parameters["c"];
    s.report(j->trial, {{"loss", a * b + 0.05 * c}});
    s.ended(j->trial);
  }
  const auto shares = tune::results(s).importance(three);
  CHECK(shares[0].second > 0.3);
  CHECK(shares[1].second > 0.3);
  CHECK(shares[2].first == "c");
  CHECK(shares[0].second + shares[1].second + shares[2].second <= 1.0001);
}

TEST_CASE("fanova: what has no answer is empty, and options without a sense are refused") {
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  tune::study s(line, {.minimise = "loss", .trials = 7});
  while (const auto j = s.next()) {
    s.report(j->trial, {{"loss", j->parameters["x"]}});
    s.ended(j->trial);
  }
  CHECK(tune::fanova(line, s.trials()).empty());
  CHECK(tune::fanova(tune::space([](tune::chooser& choose) { choose("x", tune::uniform(0, 1)); }), s.trials()).empty());
  CHECK(tune::fanova({{"fixed", 1}}, s.trials()).empty());
  CHECK(contains(manta::testing::thrown<tune::error>([&] { tune::fanova(line, s.trials(), {.trees = 0}); }),
                 "fanova needs trees >= 1"));
}
