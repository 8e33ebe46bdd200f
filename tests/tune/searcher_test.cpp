// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Searchers that do not learn: random with grids, grid, Sobol, Latin hypercubes.
#include <doctest/doctest.h>

#include <set>

#include "manta/tune/random_search.hpp"
#include "manta/tune/sobol.hpp"

namespace tune = manta::tune;

namespace {

template <class Searcher>
std::vector<tune::config> first(Searcher s, const tune::space& where, std::size_t count, std::uint64_t seed = 1) {
  s.begin(where, seed);
  std::vector<tune::config> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto c = s.ask(i);
    if (!c) break;
    all.push_back(*c);
  }
  return all;
}

/// A searcher of a user's: the least there has to be.
struct always_two {
  void begin(const tune::space&, std::uint64_t) {}
  std::optional<tune::config> ask(std::uint64_t trial) {
    if (trial > 3) return std::nullopt;
    return tune::config{{"x", 2}};
  }
  void tell(std::uint64_t, double) {}
};
static_assert(tune::searcher<always_two>);
static_assert(!tune::searcher<int>);

}  // namespace

TEST_CASE("random search goes through grids and draws the rest anew each time") {
  const tune::space s = {{"a", tune::grid({1, 2, 3})}, {"b", tune::grid({"x", "y"})}, {"c", tune::uniform(0, 1)}};
  const auto all = first(tune::random_search(), s, 12);
  std::set<double> draws;
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(all[i].get<int>("a") == static_cast<int>(i / 2 % 3) + 1);
    CHECK(all[i].get<std::string>("b") == (i % 2 == 0 ? "x" : "y"));
    draws.insert(all[i].get<double>("c"));
  }
  CHECK(draws.size() == 12U);
  CHECK(first(tune::random_search(), s, 12) == all);
  CHECK(first(tune::random_search(), s, 12, 2) != all);
  tune::random_search r;
  r.begin(s, 1);
  CHECK(r.combinations() == 6U);
}

TEST_CASE("grid search covers everything once, ends included") {
  const tune::space s = {{"opt", tune::choice({"sgd", "adam"})},
                         {"lr", tune::loguniform(0.01, 1)},
                         {"m", tune::uniform(0, 1).when("opt", "sgd")},
                         {"k", tune::integers(1, 3)}};
  const auto all = first(tune::grid_search({.per_parameter = 3}), s, 1000);
  CHECK(all.size() == 3U * 3 * 3 + 3 * 3);
  std::set<std::string> seen;
  std::set<double> rates;
  for (const auto& c : all) {
    seen.insert(c.text());
    rates.insert(std::round(1e6 * c.get<double>("lr")) / 1e6);
  }
  CHECK(seen.size() == all.size());
  CHECK(rates == std::set<double>{0.01, 0.1, 1});
  CHECK(first(tune::grid_search(), {{"x", tune::uniform(0, 1)}}, 10).size() == 5U);
}

TEST_CASE("every dyadic interval holds its share of a Sobol sequence") {
  const std::size_t dimensions = 40;
  const tune::sobol_sequence points(dimensions, 99);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::vector<int> count(256);
    for (std::uint64_t i = 0; i < 256; ++i) ++count[static_cast<std::size_t>(points[i][d] * 256)];
    for (const int c : count) CHECK(c == 1);
  }
  // the first two dimensions are a (0, m, 2)-net: one point in each of 2^k x 2^(8-k) boxes
  for (unsigned k = 0; k <= 8; ++k) {
    std::set<std::pair<std::size_t, std::size_t>> boxes;
    for (std::uint64_t i = 0; i < 256; ++i) {
      const auto u = points[i];
      boxes.emplace(static_cast<std::size_t>(u[0] * static_cast<double>(1U << k)),
                    static_cast<std::size_t>(u[1] * static_cast<double>(1U << (8 - k))));
    }
    CHECK(boxes.size() == 256U);
  }
}

TEST_CASE("a Sobol sequence integrates better than chance, in twenty dimensions") {
  const std::size_t d = 20, n = 1024;
  const auto f = [](const std::vector<double>& u) {
    double product = 1;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const auto a = static_cast<double>(i + 1);
      product *= (std::abs(4 * u[i] - 2) + a) / (1 + a);  // its integral is 1 (Sobol's g-function)
    }
    return product;
  };
  double even = 0, chance = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const tune::sobol_sequence points(d, seed);
    tune::random r(seed);
    double a = 0, b = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      a += f(points[i]) / n;
      std::vector<double> u(d);
      for (double& x : u) x = r.uniform();
      b += f(u) / n;
    }
    even += std::abs(a - 1);
    chance += std::abs(b - 1);
  }
  CHECK(even < chance / 3);
}

TEST_CASE("a Latin hypercube has one point in each row and column") {
  const tune::space s = {{"x", tune::uniform(0, 1)}, {"y", tune::uniform(0, 1)}, {"z", tune::uniform(0, 1)}};
  const auto all = first(tune::latin_hypercube_search({.points = 16}), s, 32);
  for (const char* name : {"x", "y", "z"}) {
    for (const std::size_t half : {0U, 16U}) {
      std::set<int> rows;
      for (std::size_t i = half; i < half + 16; ++i) rows.insert(static_cast<int>(all[i].get<double>(name) * 16));
      CHECK(rows.size() == 16U);
    }
  }
  CHECK(all[0] != all[16]);
}

TEST_CASE("a searcher of the user's own is held like any other, and copied") {
  tune::any_searcher s = always_two{};
  s->begin({}, 1);
  CHECK(s->ask(0)->get<int>("x") == 2);
  CHECK(!s->ask(4));
  tune::any_searcher r = tune::random_search();
  const tune::space where = {{"x", tune::uniform(0, 1)}};
  r->begin(where, 1);
  tune::any_searcher copy = r.clone();
  const auto a = r->ask(0), b = r->ask(1);
  CHECK(copy->ask(0) == a);
  copy->again(1, *b);
  CHECK(copy->ask(2) == r->ask(2));
}

TEST_CASE("searchers that need a fixed list of parameters say so") {
  const tune::space program([](tune::chooser& choose) { choose("x", tune::uniform(0, 1)); });
  CHECK_THROWS_AS(tune::sobol_search().begin(program, 1), tune::error);
  CHECK_THROWS_AS(tune::grid_search().begin(program, 1), tune::error);
  CHECK(first(tune::random_search(), program, 3).size() == 3U);
}
