// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Mistakes in spaces, options and rules are found before they cost anything; what searchers, schedulers and rules throw costs
// nothing that was found before; points of finite spaces do not come twice while others are left.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>

#include "manta/tune/bayesian.hpp"
#include "manta/tune/bohb.hpp"
#include "manta/tune/cma_es.hpp"
#include "manta/tune/pb2.hpp"
#include "manta/tune/pbt.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/sobol.hpp"
#include "manta/tune/tpe.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;
using tune::config;
using kind = tune::verdict::kind;

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       highest = std::numeric_limits<std::int64_t>::max();

const tune::domain optimisers = tune::choice({"sgd", "adam"});

std::string refused(const std::function<void()>& what) { return thrown<tune::error>(what); }
std::string refused(const tune::space& s, const config& first) {
  return refused([&] { tune::study(s, {.minimise = "loss", .trials = 3, .first = {first}}); });
}

/// All configurations that are run, `at_once` at a time; each value is a function of the configuration.
std::vector<std::string> all_of(tune::study& s, std::size_t at_once = 1) {
  std::vector<std::string> all;
  for (;;) {
    std::vector<tune::job> running;
    while (running.size() < at_once) {
      auto j = s.next();
      if (!j) break;
      all.push_back(j->parameters.text());
      running.push_back(*j);
    }
    if (running.empty()) return all;
    for (const tune::job& j : running) {
      const double loss = static_cast<double>(std::hash<std::string>()(j.parameters.text()) % 1000);
      if (s.report(j.trial, {{"loss", loss}}).what == kind::go_on) s.ended(j.trial);
    }
  }
}
std::vector<std::string> all_of(const tune::space& s, tune::experiment e, std::size_t at_once = 1) {
  e.minimise = "loss";
  tune::study study(s, e);
  return all_of(study, at_once);
}
std::size_t different(const std::vector<std::string>& all) {
  return std::set<std::string>(all.begin(), all.end()).size();
}

std::map<std::string, tune::any_searcher> searchers() {
  return {{"random", tune::random_search()},
          {"tpe", tune::tpe({.startup = 3})},
          {"tpe, joint", tune::tpe({.startup = 3, .multivariate = true})},
          {"bayesian", tune::bayesian({.startup = 3, .candidates = 30})},
          {"bohb", tune::bohb()},
          {"cma_es", tune::cma_es()},
          {"sobol", tune::sobol_search()},
          {"latin hypercube", tune::latin_hypercube_search({.points = 5})},
          {"grid_search", tune::grid_search({.per_parameter = 20})}};
}

}  // namespace

TEST_CASE("a point of .first outside the space is refused by name before anything runs") {
  const tune::space s = {{"lr", tune::loguniform(1e-4, 1)},
                         {"opt", optimisers},
                         {"size", tune::integers(8, 64).quantised(8)},
                         {"momentum", tune::uniform(0.8, 0.99).when("opt", "sgd")},
                         {"twice", tune::depends([](const config& c) { return 2 * c.get<int>("size"); })},
                         {"epochs", 10},
                         {"width", tune::normal(0, 1)},
                         {"flag", tune::choice({true, false})}};
  CHECK(contains(refused(s, {{"rate", 0.1}}),
                 ".first[0]: \"rate\" is no parameter of the space, which has \"lr\", \"opt\""));
  CHECK(contains(refused(s, {{"lr", 2}}), "\"lr\" = 2 is outside its domain, loguniform("));
  CHECK(contains(refused(s, {{"lr", "0.1"}}), "\"lr\" = \"0.1\" is outside"));
  CHECK(contains(refused(s, {{"lr", std::nan("")}}), "\"lr\""));
  CHECK(contains(refused(s, {{"opt", "SGD"}}), "\"opt\" = \"SGD\" is outside its domain, choice(\"sgd\", \"adam\")"));
  CHECK(contains(refused(s, {{"size", 12}}), "\"size\" = 12"));
  CHECK(contains(refused(s, {{"size", 16.5}}), "\"size\" = 16.5"));
  CHECK(contains(refused(s, {{"size", 72}}), "\"size\" = 72"));
  CHECK(contains(refused(s, {{"opt", "adam"}, {"momentum", 0.9}}), "\"momentum\" is there only with opt = \"sgd\""));
  CHECK(contains(refused(s, {{"size", 16}, {"twice", 33}}),
                 "\"twice\" = 33 cannot be: it is computed from the others, which gives 32"));
  CHECK(contains(refused(s, {{"epochs", 11}}), "\"epochs\" = 11"));
  CHECK(contains(refused(s, {{"flag", 1}}), "\"flag\" = 1"));
  CHECK(contains(refused(s, {{"width", tune::infinity}}), "\"width\""));
  CHECK(contains(refused({{"x", tune::lognormal(0, 1)}}, {{"x", 0}}), "\"x\" = 0"));
  CHECK(contains(refused({{"x", tune::grid({1, 2})}}, {{"x", 3}}), "\"x\" = 3"));
  const tune::space odd = {{"n", tune::integers(0, 9)},
                           {"x", tune::uniform(0, 1).when([](const config& c) { return c.get<int>("n") % 2 == 1; })}};
  CHECK(contains(refused(odd, {{"n", 4}, {"x", 0.5}}), "\"x\" is not there with these values"));
  const tune::space program([](tune::chooser& choose) {
    if (choose("opt", optimisers) == "sgd") choose("momentum", tune::uniform(0, 1));
  });
  CHECK(contains(refused(program, {{"momentun", 0.5}}), "\"momentun\" is asked for by none of 1000 runs"));
  CHECK(contains(refused(program, {{"momentum", 1.5}}), "\"momentum\" = 1.5"));

  // within: in the domain's own form, and with what it needs
  tune::study good(
      s,
      {.minimise = "loss", .trials = 3, .first = {{{"size", 16.0}, {"momentum", 0.9}, {"twice", 32}, {"epochs", 10}}}});
  const config c = good.next()->parameters;
  CHECK(c["size"].is_integer());
  CHECK(c["opt"] == "sgd");
  CHECK(c["momentum"] == 0.9);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    CHECK(tune::study(odd, {.minimise = "loss", .trials = 1, .first = {{{"x", 0.5}}}, .seed = seed})
                  .next()
                  ->parameters.get<int>("n") %
              2 ==
          1);
    CHECK(tune::study(program, {.minimise = "loss", .trials = 1, .first = {{{"momentum", 0.5}}}, .seed = seed})
              .next()
              ->parameters["opt"] == "sgd");
  }
}

TEST_CASE("conditions that can never hold are refused, and what is wrong with them is said") {
  const auto x = tune::uniform(0, 1);
  const auto space = [](const std::vector<tune::parameter>& p) { return refused([&] { tune::space{p}; }); };
  CHECK(contains(space({{"x", x.when("opt", "sgd")}, {"opt", optimisers}}), "\"opt\" must stand before it"));
  CHECK(contains(space({{"opt", optimisers}, {"x", x.when("optimiser", "sgd")}}),
                 "there is no such parameter; before it stand \"opt\""));
  CHECK(contains(space({{"x", x.when("x", 1)}}), "\"x\" must stand before it"));
  CHECK(contains(space({{"opt", optimisers}, {"x", x.when("opt", "Sgd")}}), "\"opt\" is choice(\"sgd\", \"adam\")"));
  CHECK(contains(space({{"n", tune::integers(1, 4)}, {"x", x.when("n", 5)}}), "\"n\" is integers(1, 4)"));
  CHECK(contains(space({{"n", tune::choice({16, 32})}, {"x", x.when("n", "16")}}), "can never hold"));
  CHECK(contains(space({{"deep", tune::choice({true, false})}, {"x", x.when("deep", 1)}}), "can never hold"));
  CHECK(contains(space({{"n", 3}, {"x", x.when("n", 4)}}), "\"n\" is constant(3)"));
  CHECK(contains(space({{"lr", tune::uniform(0, 1)}, {"x", x.when("lr", 0.5)}}), "give a function instead"));
  CHECK(contains(space({{"n", tune::uniform(0, 1).quantised(0.25)}, {"x", x.when("n", 0.3)}}), "can never hold"));
  CHECK(contains(space({{"opt", optimisers}, {"x", x.when("opt", "sgd").when("opt", "adam")}}),
                 "\"opt\" would have to be \"sgd\" and \"adam\""));
  CHECK(contains(space({{"opt", optimisers},
                        {"m", tune::choice({1, 2}).when("opt", "sgd")},
                        {"x", x.when("m", 1).when("opt", "adam")}}),
                 "the conditions of \"x\" can never hold together"));
  CHECK(contains(space({{"", x}}), "without a name"));
  CHECK(space({{"opt", optimisers},
               {"m", tune::choice({1, 2}).when("opt", "sgd")},
               {"n", tune::uniform(0, 1).quantised(0.25)},
               {"x", x.when("m", 1).when("opt", "sgd").when("n", 0.75)},
               {"d", tune::depends([](const config&) { return 1; })},
               {"y", x.when("d", 7)}})
            .empty());

  const auto study = [](const tune::space& s) { return refused([&] { tune::study(s, {.minimise = "loss"}); }); };
  CHECK(
      contains(study({{"n", tune::integers(1, 4)}, {"x", x.when([](const config& c) { return c.get<int>("n") > 4; })}}),
               "\"x\" is in none of"));
  CHECK(contains(study({{"x", x.when([](const config& c) { return c["n"] == 1; })}}), "has no \"n\""));
  CHECK(contains(study(tune::space([&](tune::chooser& choose) { choose("x", x.when("opt", "sgd")); })), "write an if"));
  CHECK(tune::space({{"opt", optimisers}, {"x", x.when("opt", "sgd")}}).text() !=
        tune::space({{"opt", optimisers}, {"x", x.when("opt", "adam")}}).text());
}

TEST_CASE("quantised domains have a value, and nothing else") {
  for (const auto& wrong : std::vector<std::function<tune::domain()>>{
           [] { return tune::loguniform(0.01, 0.05).quantised(0.1); },
           [] { return tune::loguniform(0.15, 0.19).quantised(0.1); },
           [] { return tune::logintegers(5, 9).quantised(20); }, [] { return tune::logintegers(5, 9).quantised(2.5); },
           [] { return tune::integers(0, 9).quantised(0.5); }, [] { return tune::normal(5, 0.1).quantised(100); },
           [] { return tune::lognormal(-30, 1).quantised(1); }, [] { return tune::uniform(0, 1).quantised(0); }}) {
    CHECK(contains(refused([&] { wrong(); }), "manta: a space: "));
  }
  tune::random r(3);
  for (const tune::domain& d :
       {tune::loguniform(0.05, 0.55).quantised(0.1), tune::logintegers(5, 99).quantised(20),
        tune::integers(-7, 9).quantised(5), tune::uniform(0.1, 0.75).quantised(0.2), tune::logintegers(1, 6),
        tune::integers(lowest, lowest + 2), tune::integers(highest - 2, highest), tune::choice({1, 2, 3}),
        tune::uniform(-3, 3).quantised(1e9)}) {
    CAPTURE(d.text());
    std::set<std::string> listed, drawn;
    for (std::uint64_t i = 0; i < d.count().value(); ++i) listed.insert(d.member(i).text());
    for (int i = 0; i < 2000; ++i) {
      const tune::value v = d.draw({}, r);
      drawn.insert(v.text());
      CHECK(d.find(v) == v);
      CHECK(d.at(d.position(v)) == v);
    }
    CHECK(listed.size() == d.count());
    CHECK(drawn == listed);
  }
  for (int i = 0; i < 2000; ++i) CHECK(tune::lognormal(0, 3).quantised(1).draw({}, r).as<double>() >= 1);
}

TEST_CASE("the ends of a domain are the numbers that were written, to the ends of integers") {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{1e-5, 1},
                                                                        {0.1, 0.7},
                                                                        {3e-308, 1e308},
                                                                        {0.3, 0.30000000000000004},
                                                                        {1 / 3.0, 2 / 3.0},
                                                                        {1e300, 1.0000000000000002e300}}) {
    for (const tune::domain& d : {tune::loguniform(low, high), tune::uniform(low, high)}) {
      CHECK(d.at(0).as<double>() == low);
      CHECK(d.at(1).as<double>() == high);
      CHECK(d.position(low) == 0);
      CHECK(d.position(high) == 1);
    }
  }
  CHECK(tune::uniform(0.1, 0.7).quantised(0.2).at(0) == 0.1);
  CHECK(tune::uniform(1 / 3.0, 2).quantised(0.5).at(0) == 1 / 3.0);
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {{lowest, highest},
                                                                     {lowest, lowest + 1},
                                                                     {highest - 1, highest},
                                                                     {0, highest},
                                                                     {lowest, 0},
                                                                     {1, highest},
                                                                     {(1LL << 53) + 1, (1LL << 53) + 3}};
  tune::random r(5);
  for (const auto& [low, high] : ranges) {
    std::vector<tune::domain> all = {tune::integers(low, high), tune::integers(low, high).quantised(1)};
    if (low >= 1) all.push_back(tune::logintegers(low, high));
    for (const tune::domain& d : all) {
      CAPTURE(d.text());
      CHECK(d.at(0).as<std::int64_t>() == low);
      CHECK(d.at(1).as<std::int64_t>() == high);
      CHECK(d.find(low).has_value());
      CHECK(d.find(high).has_value());
      for (const double beyond : {1e300, -1e300, 9.3e18, -9.3e18}) CHECK(!d.find(beyond));
      CHECK(d.nearest(1e300).as<std::int64_t>() == high);
      CHECK(d.nearest(-1e300).as<std::int64_t>() == low);
      CHECK((d.position(low) >= 0 && d.position(low) < d.position(high) && d.position(high) <= 1));
      CHECK(d.at(d.position(low)).as<std::int64_t>() <= d.at(d.position(high)).as<std::int64_t>());
      for (int i = 0; i < 200; ++i) {
        const auto x = d.draw({}, r).as<std::int64_t>();
        CHECK((x >= low && x <= high));
      }
    }
  }
  const auto wide = tune::integers(lowest, highest).quantised(4611686018427387904.0);  // 2^62
  CHECK(wide.count() == 4U);
  CHECK(wide.at(0.3).as<std::int64_t>() == -4611686018427387904);
  CHECK(!tune::integers(0, highest).find(9007199254740993.0 * 1024));
  CHECK(!(tune::value(9007199254740993) == tune::value(9007199254740992.0)));
  CHECK(!(tune::value(highest) == tune::value(0x1p63)));
  CHECK(contains(refused([] { tune::value(~std::uint64_t{0}); }), "18446744073709551615 is too large"));
}

TEST_CASE("a domain closed to one value is a constant, for every searcher") {
  const std::vector<tune::domain> closed = {tune::uniform(5, 5),
                                            tune::uniform(5, 5).quantised(0.1),
                                            tune::uniform(5, 6).quantised(2),
                                            tune::loguniform(5, 5),
                                            tune::integers(5, 5),
                                            tune::integers(5, 7).quantised(3),
                                            tune::logintegers(5, 5),
                                            tune::logintegers(4, 6).quantised(5),
                                            tune::choice({5}),
                                            tune::choice({5, 5}),
                                            tune::grid({5}),
                                            tune::normal(5, 0),
                                            tune::lognormal(std::log(5.0), 0),
                                            tune::normal(5, 1e-3).quantised(1)};
  for (const auto& [name, searcher] : searchers()) {
    CAPTURE(name);
    tune::space alone({{"a", closed[0]}});
    CHECK(all_of(alone, {.trials = 3, .searcher = searcher}).size() == (name == "grid_search" ? 1U : 3U));
    std::vector<tune::parameter> all = {{"x", tune::uniform(0, 1)}};
    for (std::size_t i = 0; i < closed.size(); ++i)
      all.push_back({"c" + std::to_string(i), i % 3 == 2 ? closed[i].when("c0", 5) : closed[i]});
    const tune::space s(all);
    tune::study study(s, {.minimise = "loss", .trials = 12, .searcher = searcher, .first = {{{"c0", 5}, {"c8", 5}}}});
    std::size_t count = 0;
    while (auto j = study.next()) {
      REQUIRE(j->parameters.size() == all.size());
      for (std::size_t i = 0; i < closed.size(); ++i)
        CHECK(j->parameters.get<double>("c" + std::to_string(i)) == doctest::Approx(5));
      study.report(j->trial, {{"loss", j->parameters["x"]}});
      study.ended(j->trial);
      ++count;
    }
    CHECK(count == 12U);
    const auto shares = tune::results(study).importance(s);
    REQUIRE(shares.size() == all.size());
    CHECK(shares.front().first == "x");
    for (std::size_t i = 1; i < shares.size(); ++i) CHECK(shares[i].second == 0);
  }
  for (tune::any_scheduler scheduler : {tune::any_scheduler(tune::pbt({.interval = 1, .resample = 1})),
                                        tune::any_scheduler(tune::pb2({.interval = 1}))}) {
    tune::study study({{"a", tune::uniform(5, 5)}, {"x", tune::uniform(0, 1)}},
                      {.minimise = "loss", .trials = 4, .scheduler = scheduler});
    for (int i = 0; i < 60; ++i) {
      if (auto j = study.next()) {
        const auto a = study.report(j->trial, {{"loss", j->parameters["x"]}});
        CHECK((a.change ? a.change->to : j->parameters)["a"] == 5);
        if (a.what == kind::go_on) study.ended(j->trial);
      }
    }
  }
}

TEST_CASE("grids are gone through once, with points to begin with, under conditions and in programs") {
  const tune::space grid = {{"lr", tune::grid({0.1, 0.01, 0.001})}, {"size", tune::grid({16, 32})}};
  for (tune::any_searcher searcher :
       {tune::any_searcher(tune::random_search()), tune::any_searcher(tune::grid_search())}) {
    const auto all =
        all_of(grid, {.searcher = searcher, .first = {{{"size", 32}, {"lr", 0.01}}, {{"lr", 0.001}, {"size", 16}}}});
    CHECK(all.size() == 6U);
    CHECK(different(all) == 6U);
    CHECK(all[0] == R"({"lr":0.01,"size":32})");
    CHECK(all_of(grid, {.searcher = searcher}, 4).size() == 6U);
  }
  CHECK(all_of({{"n", tune::grid({1, 0, 0, 0})}, {"m", tune::grid({5, 5})}}, {.trials = 2}).size() ==
        16U);  // which may be meant
  CHECK(different({all_of({{"n", tune::grid({0, 1, 1, 1})}}, {})}) == 2U);
  const auto twice = all_of(grid, {.trials = 2});
  CHECK(twice.size() == 12U);
  CHECK(different({twice.begin(), twice.begin() + 6}) == 6U);
  CHECK(different({twice.begin() + 6, twice.end()}) == 6U);
  // what is drawn beside it makes a point of .first one more
  CHECK(all_of({{"lr", tune::grid({1, 2})}, {"x", tune::uniform(0, 1)}}, {.first = {{{"lr", 1}}}}).size() == 3U);
  const auto off = all_of({{"x", tune::uniform(0, 1)}},
                          {.searcher = tune::grid_search({.per_parameter = 3}), .first = {{{"x", 0.25}}, {{"x", 1}}}});
  CHECK(off == std::vector<std::string>{R"({"x":0.25})", R"({"x":1})", R"({"x":0.0})", R"({"x":0.5})"});

  const auto is_sgd = [](const config& c) { return c["opt"] == "sgd"; };
  const auto momentum = tune::grid({0.8, 0.9, 0.99});
  for (const tune::domain& m : {momentum.when("opt", "sgd"), momentum.when(is_sgd)}) {
    for (tune::any_searcher searcher :
         {tune::any_searcher(tune::random_search()), tune::any_searcher(tune::grid_search())}) {
      const auto all = all_of(
          {{"opt", tune::grid({"adam", "sgd"})}, {"m", m}, {"nesterov", tune::grid({true, false}).when("m", 0.9)}},
          {.searcher = searcher});
      CHECK(all.size() == 5U);
      CHECK(different(all) == 5U);
    }
    const auto drawn = all_of({{"opt", optimisers}, {"m", m}}, {});  // whether there is a grid is drawn
    CHECK(drawn.size() == 3U);
    CHECK(different(drawn) == 3U);
  }
  const tune::space program([&](tune::chooser& choose) {
    const int layers = choose("layers", tune::grid({1, 2}));
    for (int i = 0; i < layers; ++i) choose("width" + std::to_string(i), tune::grid({8, 16, 32}));
  });
  const auto all = all_of(program, {.first = {{{"layers", 2}, {"width0", 8}, {"width1", 32}}}}, 5);
  CHECK(all.size() == 3U + 9U);
  CHECK(different(all) == all.size());
  CHECK(contains(refused([&] { all_of(program, {.searcher = tune::grid_search()}); }),
                 "needs a space with a fixed list"));
  CHECK(contains(refused([&] {
                   all_of({{"a", tune::integers(1, 1000)}, {"b", tune::integers(1, 100'000)}},
                          {.searcher = tune::grid_search({.per_parameter = 100'000})});
                 }),
                 "more than ten million points"));
}

TEST_CASE("points of a finite space are not run twice while others are left") {
  const tune::space list = {{"n", tune::integers(1, 3)},
                            {"opt", tune::choice({"sgd", "adam", "lion"})},
                            {"m", tune::uniform(0, 1).quantised(0.5).when("opt", "sgd")},
                            {"noise", tune::depends([](const config&, tune::random& r) { return r.uniform(); })},
                            {"fixed", 1}};
  const std::size_t points = 3 * 2 + 3 * 3;
  const tune::space program([&](tune::chooser& choose) {
    const auto n = choose("n", tune::integers(1, 3));
    const auto opt = choose("opt", tune::choice({"sgd", "adam", "lion"}));
    if (opt == "sgd") choose("m", tune::uniform(0, 1).quantised(0.5));
    (void)n;
  });
  const auto without_noise = [](std::vector<std::string> all) {
    for (auto& text : all) text = text.substr(0, text.find(",\"noise\""));
    return all;
  };
  for (const auto& [name, searcher] : searchers()) {
    CAPTURE(name);
    for (const std::size_t at_once : {1U, 4U}) {
      const bool is_grid = name == "grid_search";
      const auto all = without_noise(all_of(
          list, {.trials = is_grid ? points : 2 * points, .searcher = searcher, .first = {{{"n", 2}, {"opt", "lion"}}}},
          at_once));
      REQUIRE(all.size() == (is_grid ? points : 2 * points));
      CHECK(different({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(points)}) == points);
      CHECK(different({all.end() - static_cast<std::ptrdiff_t>(points), all.end()}) ==
            points);  // and again when none is left
      if (name == "random" || name == "tpe")
        CHECK(different(all_of(program, {.trials = points, .searcher = searcher}, at_once)) == points);
    }
    // many points: most are left, so that drawing finds them
    const tune::space wide = {{"a", tune::integers(0, 999)}, {"b", tune::integers(0, 999)}};
    if (name != "grid_search" && name != "bayesian")
      CHECK(different(all_of(wide, {.trials = 150, .searcher = searcher})) == 150U);
  }
  /// A searcher of a user's may mean it.
  struct stubborn {
    void begin(const tune::space&, std::uint64_t) {}
    std::optional<config> ask(std::uint64_t) { return config{{"n", 1}}; }
    void tell(std::uint64_t, double) {}
  };
  CHECK(different(all_of({{"n", tune::integers(1, 3)}}, {.trials = 5, .searcher = stubborn()})) == 1U);
}

TEST_CASE("after a kill a finite space goes on as it would have") {
  const tune::space s = {{"n", tune::integers(1, 4)}, {"opt", tune::choice({"sgd", "adam", "lion"})}};
  for (const auto& [name, searcher] : searchers()) {
    for (const std::size_t trials : {12U, 24U}) {  // all points once, and twice
      CAPTURE(name);
      CAPTURE(trials);
      const tune::experiment whole{.minimise = "loss", .trials = trials, .searcher = searcher, .first = {{{"n", 2}}}};
      const auto expected = all_of(s, whole);
      REQUIRE(expected.size() == (name == "grid_search" ? 12 : trials));
      folder f;
      tune::experiment e = whole;
      e.folder = f.path;
      e.outputs = {};
      std::vector<std::string> all;
      while (all.size() < expected.size()) {
        tune::study study(s, e);
        auto j = study.next();
        REQUIRE(j);
        all.push_back(j->parameters.text());
        study.report(j->trial, {{"loss", static_cast<double>(std::hash<std::string>()(all.back()) % 1000)}});
        study.ended(j->trial);
        study.flush();
      }
      CHECK(all == expected);
    }
  }
}

TEST_CASE("a metric that has the name of a column of ours is refused by name") {
  for (const std::string name : {"seconds", "iteration", "trial", "state", "at", "why", "config", "config/lr"}) {
    CAPTURE(name);
    folder f;
    tune::study s({{"x", tune::uniform(0, 1)}},
                  {.minimise = "loss", .trials = 2, .folder = f.path, .outputs = {tune::csv()}, .show = false});
    const auto j = s.next();
    CHECK(s.report(j->trial, {{"loss", 1}}).what == kind::go_on);
    tune::metrics m{{"loss", 0.5}};
    m.set(name, 3);
    CHECK(s.report(j->trial, m).what == kind::stop);
    CHECK(contains(s.trial(0).why, "reported \"" + name + "\", which is a column"));
    s.finish();
    const std::string header = text_of(f.path + "/trials/00000/progress.csv");
    CHECK(header.substr(0, header.find('\n')) == "iteration,seconds,loss");
    CHECK(contains(refused([&] { tune::study({}, {.minimise = name}); }), "\"" + name + "\" is a column"));
    CHECK(contains(refused([&] { tune::study({}, {.minimise = "loss", .clock = name}); }),
                   "\"" + name + "\" is a column"));
  }
}

TEST_CASE("rules on a metric that nobody reports stop the experiment, and name it") {
  const tune::space x = {{"x", tune::uniform(0, 1)}};
  const auto run = [&](const tune::experiment& e, const tune::metrics& m, std::size_t reports) {
    tune::study s(x, e);
    std::size_t made = 0;
    const auto j = s.next();
    while (made < reports) {
      ++made;
      if (s.report(j->trial, m).what == kind::stop) break;
    }
    if (s.running_count() > 0) s.ended(j->trial);
    return std::pair(made, s.next() ? "" : s.stopping());
  };
  for (const tune::experiment& e :
       {tune::experiment{.minimise = "loss", .trials = 5, .stop = {tune::at_least("acuracy", 0.9)}},
        tune::experiment{.minimise = "loss", .trials = 5, .stop = {tune::after(1e9), tune::at_most("acuracy", 0.1)}},
        tune::experiment{.minimise = "loss", .trials = 5, .stop = {tune::plateau("acuracy")}},
        tune::experiment{.minimise = "loss", .trials = 5, .checkpoints = {.maximise = "acuracy"}}}) {
    for (const std::size_t reports : {3U, 5000U}) {
      const auto [made, why] = run(e, {{"loss", 1}, {"accuracy", 0.99}}, reports);
      CHECK(made == std::min<std::size_t>(reports, 1000));
      CHECK(contains(why, "looks at \"acuracy\", which nobody has reported; trial 0 reported \"loss\", \"accuracy\""));
    }
    CHECK(run(e, {{"loss", 1}, {"acuracy", 0.5}}, 5000).second.empty());
    CHECK(run(e, {{"loss", 1}, {"acuracy", std::nan("")}}, 3).second.empty());
  }
  CHECK(
      run({.minimise = "loss", .trials = 5, .stop = {tune::after(3), tune::at_least("acuracy", 0.9)}}, {{"loss", 1}}, 9)
          .second != "");

  // one that came late in one trial need not come in another; and the rule may be mended
  tune::study s(x, {.minimise = "loss", .trials = 3, .stop = {tune::at_least("late", 9)}});
  for (int t = 0; t < 2; ++t) {
    const auto j = s.next();
    for (int i = 0; i < 999; ++i) s.report(j->trial, {{"loss", 1}});
    if (t == 0) s.report(j->trial, {{"loss", 1}, {"late", 1}});
    s.report(j->trial, {{"loss", 1}});
    s.ended(j->trial);
  }
  CHECK(s.next());
  folder f;
  tune::experiment e{
      .minimise = "loss", .trials = 4, .stop = {tune::at_least("acuracy", 0.9)}, .folder = f.path, .outputs = {}};
  CHECK(all_of(x, e).size() == 1U);
  e.stop = {tune::at_least("loss", 1e9)};
  CHECK(all_of(x, e).size() == 3U);
}

TEST_CASE("rules that can never hold, or always do, are refused") {
  using namespace std::chrono_literals;
  const double nan = std::nan("");
  for (const auto& wrong : std::vector<std::function<void()>>{
           [&] { tune::after(nan); }, [] { tune::after(0); }, [] { tune::after_time(-1s); },
           [&] { tune::at_least("x", nan); }, [&] { tune::at_most("x", nan); }, [] { tune::at_least("", 1); },
           [] { tune::plateau("x", {.deviation = 0}); }, [] { tune::plateau("x", {.reports = 1}); },
           [] { tune::time_budget(-1s); }, [] { tune::report_budget(0); }, [] { tune::ended_budget(0); },
           [] { tune::no_improvement(0); }, [&] { tune::best_reaches(nan); }}) {
    const std::string text = refused(wrong);  // limits are of stopping rules and of objectives alike
    CHECK((contains(text, "manta: a stopping rule: ") || contains(text, "manta: tune: at_")));
  }
}

namespace {

/// Where a searcher or a scheduler of a user's throws: at its third call.
struct fault {
  std::string where;
  int calls = 0;
  void at(const char* place) {
    if (where == place && ++calls == 3) throw std::runtime_error("out of luck in " + where);
  }
};
struct faulty_searcher {
  fault f;
  void begin(const tune::space&, std::uint64_t) {}
  std::optional<config> ask(std::uint64_t t) { return f.at("ask"), config{{"x", static_cast<double>(t)}}; }
  void tell(std::uint64_t, double) { f.at("tell"); }
  void add(std::uint64_t, const config&) {}
  void report(std::uint64_t, double, double) { f.at("report"); }
};
struct faulty_scheduler {
  fault f;
  void add(std::uint64_t, const config&) { f.at("add"); }
  tune::verdict report(std::uint64_t, double, double) { return f.at("report"), tune::verdict::go_on(); }
  void remove(std::uint64_t) { f.at("remove"); }
  tune::action next(bool may_add) { return f.at("next"), may_add ? tune::action::add() : tune::action::nothing(); }
  double silent_until(std::uint64_t) const { return const_cast<fault&>(f).at("silent_until"), 0; }
  std::vector<std::uint64_t> take_dropped() { return f.at("take_dropped"), std::vector<std::uint64_t>(); }
};

}  // namespace

TEST_CASE("what a searcher, a scheduler or a rule throws comes once, and costs nothing that was found") {
  const tune::space x = {{"x", tune::uniform(0, 1e9)}};
  const auto experiment = [](const fault& f, bool in_searcher) {
    tune::experiment e{.minimise = "loss", .trials = 8, .outputs = {}};
    if (in_searcher) e.searcher = faulty_searcher{f};
    else if (f.where == "stop")
      e.stop = {[f = std::make_shared<fault>(f)](const tune::progress&) -> std::optional<std::string> {
        return f->at("stop"), std::nullopt;
      }};
    else if (f.where == "stop_all")
      e.stop_all = {[f = fault(f)](const tune::overview&) mutable -> std::optional<std::string> {
        return f.at("stop_all"), std::nullopt;
      }};
    else e.scheduler = faulty_scheduler{f};
    return e;
  };
  for (const std::string place : {"ask", "tell", "searcher's report", "add", "report", "remove", "next", "take_dropped",
                                  "silent_until", "stop", "stop_all"}) {
    CAPTURE(place);
    const bool in_searcher = place == "ask" || place == "tell" || place == "searcher's report";
    folder dir;
    std::size_t kept = 0, thrown = 0;
    for (int start = 0; start < 3; ++start) {  // with the same fault, the third time without it
      tune::experiment e = experiment({start == 2                     ? "nowhere"
                                       : place == "searcher's report" ? "report"
                                                                      : place},
                                      in_searcher);
      e.folder = dir.path;
      tune::study s(x, e);
      for (int i = 0; i < 40; ++i) {
        try {
          const auto j = s.next();
          if (!j) break;
          CHECK(s.report(j->trial, {{"loss", 10.0 - static_cast<double>(j->trial)}}).what <= kind::stop);
          if (s.trial(j->trial).state == tune::status::running) s.ended(j->trial);
        } catch (const std::runtime_error& error) {
          ++thrown;
          CHECK(contains(error.what(), "out of luck"));
          CHECK(contains(s.stopping(), "threw: out of luck"));
        }
      }
      if (start < 2) {
        CHECK(s.is_broken());
        CHECK(!s.next());
        CHECK(s.trials().size() >= kept);
        REQUIRE(s.best() != nullptr);
        kept = s.trials().size();
        CHECK(kept >= 1U);
        CHECK(kept < 8U);
        CHECK(s.best()->id + 1 == kept);
      } else {
        CHECK(!s.is_broken());
        CHECK(s.trials().size() == 8U);
        CHECK(s.best()->id == 7U);
      }
      s.finish();
      if (start < 2) CHECK(tune::results(s).best_value() == 11.0 - static_cast<double>(kept));
    }
    CHECK(thrown == 2U);
  }
}

namespace {

/// When nothing may be added, resumes a trial that it has not paused.
struct confused_scheduler {
  std::uint64_t which = 0;
  void add(std::uint64_t, const config&) {}
  tune::verdict report(std::uint64_t, double, double) { return tune::verdict::go_on(); }
  void remove(std::uint64_t) {}
  tune::action next(bool may_add) { return may_add ? tune::action::add() : tune::action::resume(which, "why not"); }
};

}  // namespace

TEST_CASE(
    "a scheduler that resumes a trial which it has not paused ends the experiment, and nothing that was found is lost") {
  for (const auto& [which, what] :
       {std::pair(1, "resumes trial 1, which is complete"), std::pair(7, "resumes trial 7, which does not exist")}) {
    tune::study s(
        {{"x", tune::uniform(0, 1)}},
        {.minimise = "loss", .trials = 3, .scheduler = confused_scheduler{static_cast<std::uint64_t>(which)}});
    const std::string said = refused([&] {
      while (const auto j = s.next()) {
        s.report(j->trial, {{"loss", 1}});
        s.ended(j->trial);
      }
    });
    CHECK(contains(said, what));
    CHECK(s.is_broken());
    CHECK(s.trials().size() == 3U);
    s.finish();
    CHECK(tune::results(s).best_value() == 1);
  }
}

TEST_CASE(
    "of equal trials the one with the lowest number is the best, whatever the order of their reports and failures") {
  tune::study s({{"x", tune::uniform(0, 1)}},
                {.maximise = "score", .trials = 6, .stop_all = {tune::no_improvement(100)}});
  for (int i = 0; i < 6; ++i) s.next();
  for (const auto& [t, score] :
       std::vector<std::pair<std::uint64_t, double>>{{3, 1}, {5, 2}, {4, 2}, {2, 2}, {1, 2}, {0, 1}})
    s.report(t, {{"score", score}});
  CHECK(s.best()->id == 1U);
  s.failed(1, "no memory");
  CHECK(s.best()->id == 2U);
  s.ended(4);
  CHECK(s.best()->id == 2U);
  s.report(0, {{"score", 2}});
  CHECK(s.best()->id == 0U);
  CHECK(tune::results(s).best().id == 0U);
}

TEST_CASE("conditions and dependent values hold in whatever PBT and PB2 propose") {
  const tune::space s = {
      {"opt", tune::choice({"sgd", "adam", "lion"})},
      {"momentum", tune::uniform(0.5, 0.99).when("opt", "sgd")},
      {"nesterov", tune::choice({true, false}).when([](const config& c) { return c.get_or("momentum", 0.0) > 0.7; })},
      {"width", tune::integers(8, 64)},
      {"twice", tune::depends([](const config& c) { return 2 * c.get<int>("width"); })},
      {"key", tune::depends([](const config& c, tune::random& r) {
         return c.get<int>("width") * 1000 + static_cast<int>(r.index(1000));
       })},
      {"deep", tune::integers(1, 4).when([](const config& c) { return c.get<int>("twice") > 60; })}};
  const auto holds = [](const config& c) {
    const bool sgd = c["opt"] == "sgd";
    return c.contains("momentum") == sgd && c.contains("nesterov") == (sgd && c.get<double>("momentum") > 0.7) &&
           c.get<int>("twice") == 2 * c.get<int>("width") && c.get<int>("key") / 1000 == c.get<int>("width") &&
           c.contains("deep") == (c.get<int>("twice") > 60);
  };
  const auto jump = [](config c, tune::random& r) {
    c.set("opt", r.chance(0.5) ? "sgd" : "adam");
    c.set("width", static_cast<int>(8 + r.index(57)));
    c.set("extra", 1);
    return c;
  };
  using pbt = tune::pbt_options;
  const std::map<std::string, tune::any_scheduler> schedulers = {
      {"pbt", tune::pbt({.interval = 1})},
      {"pbt, explore", tune::pbt({.interval = 1, .explore = jump})},
      {"pbt, width alone", tune::pbt(pbt{.interval = 1, .mutate = {"width"}})},
      {"pbt, synchronous", tune::pbt({.interval = 1, .resample = 0.9, .synchronous = true})},
      {"pb2", tune::pb2({.interval = 3, .mutate = {"width", "momentum", "deep"}})}};
  for (const auto& [name, scheduler] : schedulers) {
    CAPTURE(name);
    tune::study study(s, {.minimise = "loss", .trials = 8, .scheduler = scheduler, .stop = {tune::after(12)}});
    std::map<std::uint64_t, config> running;
    std::size_t changes = 0, keys_kept = 0;
    for (int i = 0; i < 4000; ++i) {
      if (const auto j = study.next()) {
        CHECK(holds(j->parameters));
        if (running.contains(j->trial) && !(running[j->trial] == j->parameters)) ++changes;
        running[j->trial] = j->parameters;
        continue;
      }
      bool any = false;
      for (const auto& t : study.trials()) {
        if (t.state != tune::status::running) continue;
        any = true;
        const auto a =
            study.report(t.id, {{"loss", running[t.id].get<double>("width") / static_cast<double>(1 + t.iteration) +
                                             static_cast<double>(t.id)}});
        if (a.what != kind::go_on || !a.change) continue;
        ++changes;
        CHECK(holds(a.change->to));
        const config& source = running[a.change->source];
        if (source["width"] == a.change->to["width"] && source == a.change->to) ++keys_kept;
        running[t.id] = a.change->to;
      }
      if (!any) break;
    }
    CHECK(changes > 3U);
    if (name == "pbt, explore")
      CHECK(std::any_of(running.begin(), running.end(), [](const auto& r) { return r.second.contains("extra"); }));
  }
  const auto mutating = [&](const std::string& name) {
    const std::string by_pb2 =
        refused([&] { tune::study(s, {.minimise = "loss", .scheduler = tune::pb2({.mutate = {name}})}); });
    CHECK(!by_pb2.empty());
    return refused([&] { tune::study(s, {.minimise = "loss", .scheduler = tune::pbt(pbt{.mutate = {name}})}); });
  };
  CHECK(contains(mutating("widht"), "has no parameter \"widht\""));
  CHECK(contains(mutating("twice"), "\"twice\" cannot be mutated, for it is depends(...)"));
}

TEST_CASE("if no trial has a best value, the message says what became of them") {
  const tune::space x = {{"x", tune::uniform(0, 1)}};
  const auto message = [&](const tune::experiment& e, const std::function<void(tune::study&, std::uint64_t)>& each) {
    tune::study s(x, e);
    while (auto j = s.next()) each(s, j->trial);
    s.finish();
    return refused([&] { tune::results(s).best(); });
  };
  const tune::experiment e{.minimise = "loss", .trials = 3};
  CHECK(contains(message(e, [](tune::study& s, std::uint64_t t) { s.failed(t, "no memory " + std::to_string(t)); }),
                 "no trial has a best \"loss\": all 3 failed; trial 0: no memory 0"));
  const std::string diverged = message(e, [](tune::study& s, std::uint64_t t) {
    s.report(t, {{"loss", 1}});
    s.report(t, {{"loss", std::nan("")}});
  });
  CHECK(contains(diverged, "all 3 failed; trial 0: reported loss = nan at 2"));
  CHECK(contains(diverged, ".best_may_fail = true"));
  CHECK(contains(message({.minimise = "loss", .trials = 3, .stop_all = {tune::ended_budget(1)}},
                         [](tune::study& s, std::uint64_t t) { s.failed(t, "no disk"); }),
                 "the experiment stopped: 1 trials have ended"));
  tune::study none(x, e);
  CHECK(contains(refused([&] { tune::results(none).best(); }), "none was begun"));
}
