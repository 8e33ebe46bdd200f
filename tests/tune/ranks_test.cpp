// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Experiments on any number of ranks: each searcher and each scheduler, resources
// that trials share or wait for, checkpoints, what the outputs tell of it.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>

#include <manta/tune.hpp>
#include <manta/tune/bayesian.hpp>
#include <manta/tune/cma_es.hpp>
#include <manta/tune/pb2.hpp>
#include <nlohmann/json.hpp>

#include "support/world.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::executors;
using manta::testing::folder;
using manta::testing::in_world;
using manta::testing::text_of;
using manta::testing::world_rank;
using manta::testing::world_size;
using tune::status;

namespace {

const tune::space plane = {{"x", tune::uniform(-1, 1)}, {"y", tune::uniform(-1, 1)}};

double bowl(const tune::config& c) {
  const double x = c["x"], y = c["y"];
  return (x - 0.3) * (x - 0.3) + (y + 0.2) * (y + 0.2);
}
/// Comes closer to its bowl's value with each report. A restored trial goes on where it was.
void descend(const tune::config& c, tune::trial& trial) {
  std::uint64_t steps = 0;
  trial.keep(steps);
  while (steps < 27) {
    ++steps;
    if (!trial.report({{"loss", bowl(c) + 1 / static_cast<double>(steps)}, {"steps", static_cast<double>(steps)}}))
      return;
  }
}
/// Reports the value on one fold after the other.
void validate(const tune::config& c, tune::trial& trial) {
  for (int fold = 1; fold <= 12 && trial.report("loss", bowl(c) + 0.5 * std::sin(7 * fold)); ++fold) {
  }
}
/// Works in another directory, as solvers do.
void wander(const tune::config& c, tune::trial& trial) {
  double sum = 0;
  trial.keep(sum);
  std::filesystem::current_path("/");
  while (trial.iteration() < 5) {
    sum += bowl(c);
    if (!trial.report("loss", sum)) return;
  }
}
/// What it keeps is gone when it has returned.
void fill(const tune::config&, tune::trial& trial) {
  std::vector<double> numbers(20'000, 0);
  trial.keep(numbers);
  while (trial.iteration() < 3) {
    for (double& x : numbers) ++x;
    if (!trial.report({{"loss", 1}})) return;
  }
}

}  // namespace

TEST_CASE("every searcher that learns does better than its first trials") {
  in_world([] {
    const std::vector<std::pair<std::string, tune::any_searcher>> searchers = {
        {"tpe", tune::tpe()}, {"tpe, joint", tune::tpe({.multivariate = true})}, {"cma_es", tune::cma_es()}};
    for (const auto& one : searchers) {
      CAPTURE(one.first);
      constexpr std::size_t trials = 160, few = 20;
      const auto r =
          tune::run<bowl>(plane, {.minimise = "loss", .trials = trials, .searcher = one.second, .show = false});
      CHECK(r.count(status::complete) == trials);
      std::vector<double> early, late;
      for (std::size_t i = 0; i < trials; ++i) {
        CHECK(r[i].best_loss == bowl(r[i].parameters));
        if (i < few) early.push_back(r[i].best_loss);
        if (i >= trials - few) late.push_back(r[i].best_loss);
      }
      CHECK(tune::median(late) < tune::median(early) / 2);
    }
    const auto r = tune::run<bowl>(
        plane, {.minimise = "loss", .trials = 32, .searcher = tune::bayesian({.candidates = 200}), .show = false});
    CHECK(r.best_value() < 0.005);  // a hundredth of what a trial has in the mean
  });
}

TEST_CASE("trials that are worse than the best one on the same folds end early, and the best mean is found") {
  in_world([] {
    const auto r = tune::run<validate>(plane, {.minimise = "loss",
                                               .counts = tune::counted::mean,
                                               .trials = 40,
                                               .scheduler = tune::wilcoxon_stopping(),
                                               .show = false});
    CHECK(r.count(status::failed) == 0U);
    CHECK(r.count(status::stopped) >= 10U);
    double least = tune::infinity, folds = 0;
    for (int fold = 1; fold <= 12; ++fold) folds += 0.5 * std::sin(7 * fold) / 12;
    for (const auto& t : r) least = std::min(least, bowl(t.parameters));
    CHECK(bowl(r.best().parameters) == least);
    CHECK(r.best_value() == doctest::Approx(least + folds));
    CHECK(r.best().iteration == 12U);
  });
}

TEST_CASE("every scheduler goes on from checkpoints, and ends most of what is bad early") {
  in_world([] {
    const std::vector<std::pair<std::string, tune::any_scheduler>> schedulers = {
        {"median", tune::median_stopping({.grace = 2, .min_samples = 2})},
        {"percentile", tune::percentile_stopping()},
        {"successive halving", tune::successive_halving({.trials = 27, .max = 27})},
        {"hyperband", tune::hyperband({.max = 27})},
        {"asha", tune::asha({.max = 27, .eta = 3})},
        {"asha, promotion", tune::asha_promotion({.max = 27, .eta = 3})}};
    for (const auto& one : schedulers) {
      CAPTURE(one.first);
      const auto r =
          tune::run<descend>(plane, {.minimise = "loss", .trials = 54, .scheduler = one.second, .show = false});
      CHECK(r.size() == 54U);
      CHECK(r.count(status::failed) == 0U);
      CHECK(r.count(status::stopped) >= 18U);
      CHECK(r.best().iteration == 27U);
      for (const auto& t : r)
        CHECK(t.last["steps"] == static_cast<double>(t.iteration));  // none began anew after a pause
    }
    const auto band = tune::run<descend>(plane, {.minimise = "loss",
                                                 .trials = 22,
                                                 .searcher = tune::bohb(),
                                                 .scheduler = tune::hyperband({.max = 9}),
                                                 .show = false});
    CHECK(band.best().iteration == 9U);
    CHECK(band.count(status::failed) == 0U);
  });
}

namespace {

/// Grows by its rate, less the nearer it comes to the end; an exploiting trial goes on from the size of another.
double grown(double size, double rate) { return size + rate * (1 - size) - 0.3 * rate * rate; }
void grow(const tune::config& c, tune::trial& trial) {
  double size = 0;
  trial.keep(size);
  while (trial.iteration() < 40) {
    size = grown(size, c["rate"]);
    if (!trial.report("size", size)) return;
  }
}
/// The same search without ranks: one place, which runs one trial after the other.
std::vector<double> sizes_by_hand(const tune::space& where, const tune::experiment& e) {
  struct state {
    double size = 0;
    std::uint64_t at = 0;
  };
  std::map<tune::trial_number, state> saved;
  tune::study s(where, e);
  while (const auto j = s.next()) {
    state now = j->from ? saved[*j->from] : state{};
    tune::answer a;
    while (a.what == tune::verdict::kind::go_on && now.at < 40) {
      now.size = grown(now.size, j->parameters["rate"]);
      a = s.report(j->trial, {{"size", now.size}}, 0, ++now.at);
    }
    if (a.what == tune::verdict::kind::go_on) s.ended(j->trial);
    saved[j->trial] = now;
  }
  std::vector<double> sizes;
  for (const auto& t : s.trials()) sizes.push_back(t.last["size"]);
  return sizes;
}

}  // namespace

TEST_CASE("a synchronous population comes to the same on any number of ranks") {
  in_world([] {
    const tune::space where = {{"rate", tune::uniform(0, 1)}};
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      for (const bool by_pb2 : {false, true}) {
        tune::experiment e = {.maximise = "size", .trials = 8, .seed = seed, .show = false};
        e.scheduler = tune::pbt({.interval = 4, .synchronous = true});
        if (by_pb2) e.scheduler = tune::pb2({.interval = 4, .synchronous = true});
        std::vector<double> sizes;
        for (const auto& t : tune::run<grow>(where, e)) sizes.push_back(t.last["size"]);
        CHECK(sizes == sizes_by_hand(where, e));
      }
    }
  });
}

TEST_CASE("schedulers that wait for all, or look at one trial alone, come to the same on any number of ranks") {
  in_world([] {
    const std::vector<std::pair<std::string, tune::any_scheduler>> schedulers = {
        {"fifo", tune::fifo()},
        {"hyperband", tune::hyperband({.max = 9})},
        {"successive halving", tune::successive_halving({.trials = 9, .max = 9})},
        {"patience", tune::patience_stopping({.reports = 2, .least = 0.01})}};
    for (const auto& [searcher, by] : {std::pair<std::string, tune::any_searcher>("random", tune::random_search()),
                                       {"sobol", tune::sobol_search()}}) {
      for (const auto& [scheduler, with] : schedulers) {
        CAPTURE(searcher);
        CAPTURE(scheduler);
        tune::experiment e = {.minimise = "loss",
                              .trials = 14,
                              .searcher = by,
                              .scheduler = with,
                              .stop = {tune::after(9)},
                              .concurrency = 1,
                              .show = false};
        const auto one = tune::run<descend>(plane, e);
        e.concurrency = 0;
        const auto all = tune::run<descend>(plane, e);
        REQUIRE(one.size() == all.size());
        CHECK(one.best().id == all.best().id);
        for (std::size_t i = 0; i < one.size(); ++i) {
          CHECK(one[i].parameters == all[i].parameters);
          CHECK(one[i].state == all[i].state);
          CHECK(one[i].best_loss == all[i].best_loss);
          CHECK(one[i].iteration == all[i].iteration);
        }
      }
    }
  });
}

TEST_CASE("the folder stays where it was when a trial changes the working directory") {
  const folder f;
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(f.path);
  in_world([&] {
    const auto r = tune::run<wander>(
        plane, {.minimise = "loss", .trials = 6, .checkpoints = {.every = 1}, .folder = "search", .show = false});
    CHECK(r.count(status::complete) == 6U);
    CHECK(r.best_checkpoint().iteration > 0U);
    for (const char* name : {"journal.jsonl", "report.html", "decisions.jsonl", "trials/00005/result.jsonl"})
      CHECK(std::filesystem::exists(f.path + "/search/" + name));
    const auto files = std::filesystem::directory_iterator(f.path + "/search/checkpoints");
    CHECK(std::distance(begin(files), end(files)) <= 12);
  });
  std::filesystem::current_path(before);
}

TEST_CASE("PB2 chooses where the trials of its population go on") {
  folder f;
  in_world([&] {
    const auto r = tune::run<descend>(plane, {.minimise = "loss",
                                              .trials = 6,
                                              .scheduler = tune::pb2({.interval = 3, .synchronous = true}),
                                              .folder = f.path,
                                              .outputs = {tune::decision_log()},
                                              .show = false});
    CHECK(r.count(status::complete) == 6U);
    for (const auto& t : r) {
      CHECK(t.last["steps"] == 27);
      CHECK(std::abs(t.parameters.get<double>("x")) <= 1);
    }
    CHECK(contains(text_of(f.path + "/decisions.jsonl"), R"("decision":"exploit","why":"exploits trial )"));
  });
}

namespace {

/// Trials inside the function on this rank now, and the most there were at once.
struct crowd {
  static inline int now = 0, most = 0, devices = 0;
};
void forget() { crowd::now = crowd::most = crowd::devices = 0; }
int most_at_once() { return crowd::most; }
int devices_seen() { return crowd::devices; }

/// Reports until it has had company.
void share(const tune::config&, tune::trial& trial) {
  crowd::most = std::max(crowd::most, ++crowd::now);
  const auto devices = manta::this_task::gpu_ids();
  if (devices.size() == 1) crowd::devices |= 1 << devices[0];
  while (trial.iteration() < 3 || crowd::most < 2) {
    if (!trial.report({{"loss", 1}})) break;
  }
  --crowd::now;
}

}  // namespace

TEST_CASE("two trials share a device of which each asks for half, a third waits") {
  const int owner = world_size() == 1 ? 0 : 1;  // the only rank that has one
  manta::runtime_options o;
  o.gpus = world_rank() == owner ? 1 : 0;
  in_world(o, [owner] {
    manta::async<forget>({.rank = owner}).get();
    // rules that look at each report: so a trial waits for each answer, and the other one runs
    const auto r = tune::run<share>({}, {.minimise = "loss",
                                         .trials = 12,
                                         .stop = {tune::after(100'000), tune::at_most("loss", 0)},
                                         .gpus = 0.5,
                                         .concurrency = 3,
                                         .show = false});
    CHECK(r.count(status::complete) == 12U);
    for (const auto& t : r) {
      CHECK(t.iteration < 100'000U);
      for (const auto& stretch : t.ran) CHECK(stretch.rank == owner);
    }
    CHECK(manta::async<most_at_once>({.rank = owner}).get() == 2);
    CHECK(manta::async<devices_seen>({.rank = owner}).get() == 1);
  });
}

namespace {

/// Holds what it asks for.
struct holder {
  int here() const { return 1; }
};

}  // namespace

TEST_CASE("trials wait while their resource is away, and go on when it returns") {
  manta::runtime_options o;
  o.resources = {{"licence", 1}};
  in_world(o, [] {
    std::vector<manta::actor<holder>> holders;
    for (const int rank : executors()) {
      holders.push_back(manta::spawn<holder>({.resources = {{"licence", 1}}, .rank = rank}));
      CHECK(manta::async<&holder::here>(holders.back()).get() == 1);
    }
    int looks = 0;
    const auto give_back = [&](const tune::overview& all) -> std::optional<std::string> {
      if (++looks < 3) CHECK(all.reports == 0U);
      if (looks == 3) holders.clear();
      return std::nullopt;
    };
    const auto r = tune::run<bowl>(
        plane,
        {.minimise = "loss", .trials = 8, .stop_all = {give_back}, .resources = {{"licence", 1}}, .show = false});
    CHECK(r.count(status::complete) == 8U);
    CHECK(looks > 3);
  });
}

TEST_CASE("a budget of time ends also while all trials wait for a resource") {
  manta::runtime_options o;
  o.resources = {{"licence", 1}};
  in_world(o, [] {
    std::vector<manta::actor<holder>> holders;
    for (const int rank : executors())
      holders.push_back(manta::spawn<holder>({.resources = {{"licence", 1}}, .rank = rank}));
    for (const auto& h : holders) CHECK(manta::async<&holder::here>(h).get() == 1);
    const auto r = tune::run<bowl>(plane, {.minimise = "loss",
                                           .trials = 8,
                                           .stop_all = {tune::time_budget(std::chrono::milliseconds(20))},
                                           .resources = {{"licence", 1}},
                                           .show = false});
    CHECK(r.count(status::complete) == 0U);
    for (const auto& t : r) CHECK((t.iteration == 0 && t.why == "the time budget of 0.02 s is used up"));
  });
}

TEST_CASE("checkpoints at the end, and only there") {
  folder f;
  in_world([&] {
    const auto r = tune::run<descend>(plane, {.minimise = "loss",
                                              .trials = 5,
                                              .scheduler = tune::asha({.max = 9, .eta = 3}),
                                              .checkpoints = {.at_end = true},
                                              .folder = f.path,
                                              .show = false});
    for (const auto& t : r) {
      CHECK(t.checkpoint == t.iteration);
      std::uint64_t steps = 0;
      tune::checkpoint::read(f.path + "/" + t.checkpoint_file).unpack(steps);
      CHECK(steps == t.iteration);
    }
    // the function ends by itself
    const auto whole = tune::run<fill>(
        {},
        {.minimise = "loss", .trials = 3, .checkpoints = {.at_end = true}, .folder = f.path + "/whole", .show = false});
    for (const auto& t : whole) {
      CHECK(t.checkpoint == 3U);
      std::vector<double> numbers;
      tune::checkpoint::read(f.path + "/whole/" + t.checkpoint_file).unpack(numbers);
      CHECK(numbers == std::vector<double>(20'000, 3));
    }
    const auto none =
        tune::run<descend>(plane, {.minimise = "loss", .trials = 3, .folder = f.path + "/none", .show = false});
    for (const auto& t : none) CHECK(t.checkpoint_file.empty());
  });
}

TEST_CASE("what the outputs tell is what has happened, also to a reader of somebody else's") {
  folder f;
  in_world([&] {
    const auto r = tune::run<descend>(plane, {.minimise = "loss",
                                              .trials = 12,
                                              .scheduler = tune::asha_promotion({.max = 9, .eta = 3}),
                                              .folder = f.path,
                                              .show = false});
    std::size_t reports = 0;
    for (const auto& t : r) {
      reports += t.iteration;
      REQUIRE(!t.ran.empty());
      for (std::size_t i = 0; i < t.ran.size(); ++i) {
        const auto ranks = executors();
        CHECK(std::find(ranks.begin(), ranks.end(), t.ran[i].rank) != ranks.end());
        CHECK(t.ran[i].begin <= t.ran[i].end);
        if (i > 0) CHECK(t.ran[i - 1].end <= t.ran[i].begin);
      }
      CHECK(t.ran.size() == (t.iteration == 9 ? 3U : t.iteration == 3 ? 2U : 1U));  // a stretch up to each mark
    }
    const std::string source = __FILE__;
    const std::string reader = source.substr(0, source.rfind('/')) + "/programs/events.py";
    REQUIRE(std::system(
                ("python3 " + reader + " " + f.path + "/trials/*/events* > " + f.path + "/events.txt").c_str()) == 0);
    const std::string events = text_of(f.path + "/events.txt");
    CHECK(static_cast<std::size_t>(std::count(events.begin(), events.end(), '\n')) == 2 * reports);
    CHECK(contains(text_of(f.path + "/report.html"), "\"ran\":[["));
  });
}
