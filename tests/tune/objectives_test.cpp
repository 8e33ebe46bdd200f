// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Searches with several objectives, with constraints, and with results from
// elsewhere: what is the best, what is never tried, and what searchers learn.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "manta/tune/bayesian.hpp"
#include "manta/tune/bohb.hpp"
#include "manta/tune/cma_es.hpp"
#include "manta/tune/nsga2.hpp"
#include "manta/tune/pb2.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/sobol.hpp"
#include "manta/tune/tpe.hpp"
#include "support/campaign.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::thrown;

namespace {

const tune::space square = {{"x", tune::uniform(0, 1)}, {"y", tune::uniform(0, 1)}};

/// Schaffer's problem: the front is x from 0.3 to 0.7 where y is 0.
tune::metrics two_losses(const tune::config& c) {
  const double x = c.get<double>("x"), y = c.get<double>("y");
  return {{"near", std::pow(x - 0.3, 2) + y}, {"far", std::pow(x - 0.7, 2) + y}};
}

/// Runs all trials, each with one report of what f gives.
template <class F>
tune::results run(tune::study& s, F&& f) {
  while (const auto j = s.next()) {
    s.report(j->trial, f(j->parameters));
    s.ended(j->trial);
  }
  return tune::results(s);
}

/// The largest y of the trials of a front.
double worst_y(const tune::results& r) {
  double worst = 0;
  for (const tune::trial_number t : r.front()) worst = std::max(worst, r[t].parameters.get<double>("y"));
  return worst;
}

}  // namespace

TEST_CASE("of several objectives the results are a front, in which nobody is better in both") {
  tune::study s(square, {.minimise = {"near", "far"}, .trials = 60});
  const tune::results r = run(s, two_losses);
  const auto front = r.front();
  REQUIRE(front.size() > 1);
  for (const auto a : front) {
    for (const tune::trial_record& b : r) {
      const double near = *r[a].best.find("near"), far = *r[a].best.find("far");
      CHECK(!(*b.best.find("near") < near && *b.best.find("far") < far));
    }
  }
  CHECK(contains(r.to_csv(), ",front,"));
}

TEST_CASE("one objective may be small and another one large") {
  tune::study s(square, {.minimise = "cost", .maximise = "gain", .trials = 40});
  const tune::results r = run(s, [](const tune::config& c) {
    return tune::metrics{{"cost", c.get<double>("x")}, {"gain", c.get<double>("x") - c.get<double>("y")}};
  });
  for (const auto a : r.front()) {
    for (const tune::trial_record& b : r) {
      CHECK(!(*b.best.find("cost") < *r[a].best.find("cost") && *b.best.find("gain") > *r[a].best.find("gain")));
    }
  }
}

TEST_CASE("NSGA-II and TPE come closer to a front than chance") {
  tune::study chance(square, {.minimise = {"near", "far"}, .trials = 200, .seed = 3});
  tune::study genes(square, {.minimise = {"near", "far"}, .trials = 200, .searcher = tune::nsga2(), .seed = 3});
  tune::study model(square, {.minimise = {"near", "far"}, .trials = 200, .searcher = tune::tpe(), .seed = 3});
  const tune::results at_random = run(chance, two_losses);
  const double volume = at_random.hypervolume({1.5, 1.5});
  CHECK(run(genes, two_losses).hypervolume({1.5, 1.5}) > volume);
  const tune::results learned = run(model, two_losses);
  CHECK(learned.hypervolume({1.5, 1.5}) > volume);
  CHECK(worst_y(learned) < worst_y(at_random));
}

TEST_CASE("the Gaussian process comes closer to a front than chance by weights that it draws anew each time") {
  tune::study chance(square, {.minimise = {"near", "far"}, .trials = 40, .seed = 3});
  tune::study model(
      square, {.minimise = {"near", "far"}, .trials = 40, .searcher = tune::bayesian({.candidates = 100}), .seed = 3});
  const tune::results at_random = run(chance, two_losses), learned = run(model, two_losses);
  CHECK(learned.hypervolume({1.5, 1.5}) > at_random.hypervolume({1.5, 1.5}));
  CHECK(worst_y(learned) < worst_y(at_random));
  CHECK(learned.front().size() > at_random.front().size());  // all along the front, not at one end
}

TEST_CASE("the best trial keeps the constraints, whatever else others reach") {
  const auto f = [](const tune::config& c) {
    return tune::metrics{{"loss", c.get<double>("x")}, {"latency", 10 * (1 - c.get<double>("x"))}};
  };
  tune::study s(square, {.minimise = "loss", .subject_to = {tune::at_most("latency", 5)}, .trials = 50});
  const tune::results r = run(s, f);
  CHECK(*r.best().best.find("latency") <= 5);
  CHECK(r.best_value() >= 0.5);
  CHECK(contains(r.to_csv(), ",feasible,"));
  tune::study impossible(square, {.minimise = "loss", .subject_to = {tune::at_most("latency", -1)}, .trials = 5});
  const tune::results none = run(impossible, f);
  CHECK(contains(thrown<manta::error>([&] { (void)none.best(); }), "latency"));
}

TEST_CASE("a configuration that is forbidden is never tried") {
  const auto forbidden = [](const tune::config& c) { return c.get<double>("x") + c.get<double>("y") > 1; };
  for (const tune::any_searcher& searcher :
       {tune::any_searcher(tune::random_search()), tune::any_searcher(tune::tpe()),
        tune::any_searcher(tune::tpe({.multivariate = true})), tune::any_searcher(tune::bohb()),
        tune::any_searcher(tune::nsga2()), tune::any_searcher(tune::sobol_search()),
        tune::any_searcher(tune::latin_hypercube_search()), tune::any_searcher(tune::bayesian({.candidates = 50}))}) {
    tune::study s(square,
                  {.minimise = "loss", .subject_to = {tune::forbid(forbidden)}, .trials = 60, .searcher = searcher});
    const tune::results r = run(s, [](const tune::config& c) { return tune::metrics{{"loss", -c.get<double>("x")}}; });
    CHECK(r.size() == 60U);
    for (const tune::trial_record& t : r) CHECK(!forbidden(t.parameters));
  }
}

TEST_CASE("of a space that is nearly all forbidden each searcher finds what is allowed") {
  const auto forbidden = [](const tune::config& c) {
    return std::abs(c.get<double>("x") - c.get<double>("y")) > 0.001;
  };
  for (const tune::any_searcher& searcher :
       {tune::any_searcher(tune::random_search()), tune::any_searcher(tune::tpe({.multivariate = true})),
        tune::any_searcher(tune::bohb()), tune::any_searcher(tune::cma_es()),
        tune::any_searcher(tune::bayesian({.candidates = 200}))}) {
    tune::study s(square,
                  {.minimise = "loss", .subject_to = {tune::forbid(forbidden)}, .trials = 30, .searcher = searcher});
    const tune::results r = run(s, [](const tune::config& c) { return tune::metrics{{"loss", -c.get<double>("x")}}; });
    CHECK(r.size() == 30U);
    for (const tune::trial_record& t : r) CHECK(!forbidden(t.parameters));
  }
}

TEST_CASE("a combination of grids of which little is allowed is tried, and one of which nothing is, is not") {
  const auto forbidden = [](const tune::config& c) {
    const int a = c["a"];
    return a == 3 || (a == 2 && c.get<double>("x") > 0.002);
  };
  tune::study s({{"a", tune::grid({1, 2, 3})}, {"x", tune::uniform(0, 1)}},
                {.minimise = "loss", .subject_to = {tune::forbid(forbidden)}, .trials = 3});
  int twos = 0;
  const tune::results r = run(s, [&](const tune::config& c) {
    twos += c["a"] == 2;
    return tune::metrics{{"loss", 0.0}};
  });
  CHECK(r.size() == 6U);
  CHECK(twos == 3);
}

TEST_CASE("pb2 chooses among what is allowed, and does not copy the configuration of its source") {
  const auto forbidden = [](const tune::config& c) { return c.get<double>("x") > 0.3; };
  tune::space where = square;
  where.forbid(forbidden);
  tune::pb2 scheduler({.interval = 1, .quantile = 0.5});
  scheduler.begin(where, 1, 2);
  const tune::config given = {{"x", 0.1}, {"y", 0.5}};
  scheduler.add(0, given);
  scheduler.add(1, given);
  int changes = 0;
  for (double at = 1; at < 30; ++at) {
    for (const tune::trial_number t : {0U, 1U}) {
      const tune::verdict v = scheduler.report(t, at, static_cast<double>(t) + 1 / at);
      if (!v.change) continue;
      ++changes;
      CHECK(!forbidden(v.change->to));
      CHECK(!(v.change->to == given));
    }
  }
  CHECK(changes > 5);
}

TEST_CASE("known results that are forbidden now, or that lack a parameter, teach, and are not taken for trials") {
  const auto forbidden = [](const tune::config& c) { return c.get<double>("x") > 0.5; };
  std::vector<tune::known_result> known;
  for (double x = 0.05; x < 1; x += 0.1) known.push_back({tune::config{{"x", x}, {"y", 0.5}}, std::abs(x - 0.8)});
  tune::study s(square, {.minimise = "loss",
                         .subject_to = {tune::forbid(forbidden)},
                         .trials = 10,
                         .searcher = tune::bayesian({.candidates = 50}),
                         .known = known});
  const tune::results r = run(s, [](const tune::config& c) {
    return tune::metrics{{"loss", std::abs(c.get<double>("x") - 0.8)}};
  });
  for (const tune::trial_record& t : r) CHECK(!forbidden(t.parameters));

  const tune::space nine = {{"a", tune::choice({1, 2, 3})}, {"b", tune::choice({1, 2, 3})}};
  const std::vector<tune::known_result> narrower = {
      {tune::config{{"a", 1}}, 1.0}, {tune::config{{"a", 2}}, 2.0}, {tune::config{{"b", 1}, {"a", 3}}, 4.0}};
  tune::study wider(
      nine,
      {.minimise = "loss", .trials = 0, .searcher = tune::tpe(), .known = narrower, .stop_all = {tune::nothing_new()}});
  const auto sum = [](const tune::config& c) {
    return tune::metrics{{"loss", c.get<double>("a") + c.get<double>("b")}};
  };
  CHECK(run(wider, sum).size() == 8U);  // all but a = 3, b = 1

  tune::study misspelt(nine, {.minimise = "loss", .known = {{tune::config{{"a", 1}, {"bb", 1}}, 1.0}}});
  CHECK(misspelt.remarks().at(0) == "learns from 1 of 1 known results; none has \"b\"");
}

TEST_CASE("each searcher that learns begins with what known results say") {
  const auto loss = [](double x, double y) { return std::pow(x - 0.9, 2) + std::pow(y - 0.1, 2); };
  std::vector<tune::known_result> known;
  for (double x = 0; x <= 1; x += 0.1) {
    for (double y = 0; y <= 1; y += 0.1) known.push_back({tune::config{{"x", x}, {"y", y}}, loss(x, y)});
  }
  for (const tune::any_searcher& searcher :
       {tune::any_searcher(tune::tpe()), tune::any_searcher(tune::bohb()), tune::any_searcher(tune::nsga2()),
        tune::any_searcher(tune::cma_es()), tune::any_searcher(tune::bayesian({.candidates = 200}))}) {
    double with = 0, without = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      for (const bool is_warm : {true, false}) {
        tune::experiment e = {.minimise = "loss", .trials = 4, .searcher = searcher, .seed = seed};
        if (is_warm) e.known = known;
        tune::study s(square, e);
        const tune::results r = run(s, [&](const tune::config& c) {
          return tune::metrics{{"loss", loss(c.get<double>("x"), c.get<double>("y"))}};
        });
        (is_warm ? with : without) += r.best_value();
      }
    }
    CHECK(with < 0.5 * without);
  }
}

TEST_CASE("a search learns from known results before its first trial, and does not run them") {
  const auto loss = [](const tune::config& c) {
    return tune::metrics{{"loss", std::pow(c.get<double>("x") - 0.9, 2) + std::pow(c.get<double>("y") - 0.1, 2)}};
  };
  const manta::testing::folder here;
  tune::study before(square, {.minimise = "loss", .trials = 60, .searcher = tune::tpe()});
  run(before, loss).to_csv(here.path + "/before.csv");
  const auto known = tune::known_results(here.path + "/before.csv");
  CHECK(known.size() == 60U);
  double with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    tune::study warm(square, {.minimise = "loss", .trials = 5, .searcher = tune::tpe(), .known = known, .seed = seed});
    tune::study cold(square, {.minimise = "loss", .trials = 5, .searcher = tune::tpe(), .seed = seed});
    with += run(warm, loss).best_value();
    without += run(cold, loss).best_value();
  }
  CHECK(with < without);
}

TEST_CASE("known results come from a table of another program by the names of its columns, whatever else is in it") {
  const manta::testing::folder here;
  std::ofstream(here.path + "/table.csv")
      << "\xEF\xBB\xBF"
         "date, x,y,loss,who\n2024-01-02,0.9,0.1,0.001,\"me, again\"\n2024-01-03,0.2,0.3,0.5,\n"
         "2024-01-04,7,0.3,0.4,you\n2024-01-05,0.5,0.5,,you\n";
  tune::study s(square, {.minimise = "loss",
                         .trials = 4,
                         .searcher = tune::tpe({.startup = 2}),
                         .known = tune::known_results(here.path + "/table.csv")});
  const auto says = [&](const char* text) {
    const auto all = s.remarks();
    return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.find(text) != line.npos; });
  };
  CHECK(says("learns from 2 of 4 known results; 1 lie outside the space; 1 lack a metric of the experiment"));
  const tune::results r = run(s, [](const tune::config& c) {
    return tune::metrics{{"loss", std::abs(c.get<double>("x") - 0.9) + std::abs(c.get<double>("y") - 0.1)}};
  });
  CHECK(r.best_value() < 0.3);  // near the good one from the first trial on
}

TEST_CASE("known results by hand may be of another space, and one with a value outside is left out") {
  const std::vector<tune::known_result> known = {{tune::config{{"x", 0.5}, {"z", 3}}, 0.25},
                                                 {tune::config{{"x", 7}, {"y", 0.5}}, 0.01}};
  tune::study s(square, {.minimise = "loss", .trials = 2, .searcher = tune::tpe(), .known = known});
  const tune::results r = run(s, [](const tune::config& c) { return tune::metrics{{"loss", c.get<double>("x")}}; });
  CHECK(r.size() == 2U);
}
