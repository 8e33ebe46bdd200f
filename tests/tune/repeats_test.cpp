// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Trials that are several runs of one configuration: their means, what schedulers and rules make of them, and what is
// kept of them when they pause, fail, end apart from each other, or are continued.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include <manta/tune.hpp>

#include "manta/tune/repeats.hpp"
#include "support/world.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::in_world;
using manta::testing::text_of;
using manta::testing::thrown;
using tune::status;

namespace {

const tune::space line = {{"x", tune::uniform(0, 1)}};

/// The loss of a run after so many steps: runs differ by up to a tenth.
double loss_of(double x, int repeat, std::uint64_t steps) { return x + 0.05 * repeat + 1 / static_cast<double>(steps); }
void descend(const tune::config& c, tune::trial& trial) {
  std::uint64_t steps = 0;
  trial.keep(steps);
  while (steps < 9) {
    ++steps;
    const double loss = loss_of(c["x"], trial.repeat(), steps);
    if (!trial.report({{"loss", loss}, {"steps", static_cast<double>(steps)}})) return;
  }
}
/// The oracle: one run that reports the mean of three itself.
void descend_by_hand(const tune::config& c, tune::trial& trial) {
  std::uint64_t steps = 0;
  trial.keep(steps);
  while (steps < 9) {
    ++steps;
    std::vector<tune::metrics> runs;
    for (int repeat = 0; repeat < 3; ++repeat) runs.push_back({{"loss", loss_of(c["x"], repeat, steps)}});
    if (!trial.report(tune::mean_of(runs))) return;
  }
}
struct climber {
  double x = 0;
  int steps = 0;
  int number = -1;
  void repeat(int k) { number = k; }
  void setup(const tune::config& c) { x = c["x"]; }
  tune::metrics step() { return {{"height", x * ++steps}, {"number", static_cast<double>(number)}}; }
  int save() const { return steps; }
  void load(int s) { steps = s; }
};
/// Run 1 ends after three reports and run 2 after six, each with its last loss.
void end_apart(const tune::config& c, tune::trial& trial) {
  double begun = 0;
  trial.keep(begun);
  if (trial.iteration() == 0) ++begun;
  const std::uint64_t last = trial.repeat() == 0 ? 9 : 3 * static_cast<std::uint64_t>(trial.repeat());
  while (trial.iteration() < last) {
    const double loss = c.get<double>("x") + 1 / static_cast<double>(trial.iteration() + 1);
    if (!trial.report({{"loss", loss}, {"begun", begun}})) return;
  }
}
double mean_apart(double x, std::uint64_t at) {
  double mean = 0;
  for (const std::uint64_t last : {9U, 6U, 3U}) mean += (x + 1 / static_cast<double>(std::min(at, last))) / 3;
  return mean;
}
/// The second run throws at its fourth step, once; the mark is in the folder of the run.
void fail_once(const tune::config&, tune::trial& trial) {
  double steps = 0;
  trial.keep(steps);
  while (steps < 6) {
    ++steps;
    const std::string mark = trial.folder() + "/failed";
    if (trial.repeat() == 1 && steps == 4 && !std::filesystem::exists(mark)) {
      manta::output::replace_file(mark, "");
      throw std::runtime_error("the second run is unlucky");
    }
    if (!trial.report({{"steps", steps}})) return;
  }
}
/// Reports where its random numbers begin; noisy is the value alone.
void draw(const tune::config&, tune::trial& trial) {
  trial.report({{"loss", tune::random(trial.seed()).uniform()}, {"repeat", static_cast<double>(trial.repeat())}});
}
double noisy(const tune::config& c) { return c["x"]; }
void crash(const tune::config& c, tune::trial& trial) {
  if (trial.repeat() == 2 && c.get<int>("how") == 0) std::raise(SIGSEGV);
  if (trial.repeat() == 1 && c.get<int>("how") == 1) throw std::runtime_error("no data");
  trial.report("loss", 1);
}
double on_team(manta::team, const tune::config&) { return 1; }

}  // namespace

TEST_CASE("the mean of runs stands beside its standard error") {
  const tune::metrics m = tune::mean_of(
      {{{"loss", 1}, {"epoch", 4}}, {{"loss", 2}, {"epoch", 4}, {"rare", 7}}, {{"loss", 6}, {"epoch", 4}}}, "epoch");
  CHECK(m["loss"] == 3);
  CHECK(m["epoch"] == 4);
  CHECK(m["rare"] == 7);
  CHECK(m[tune::standard_error_of("loss")] == doctest::Approx(std::sqrt(7.0 / 3)));
  CHECK(m.size() == 4U);  // of one value there is no error, nor of the metric that was named
  CHECK(tune::mean_of({}).empty());
  CHECK(tune::mean_of({{{"loss", 0.1}}, {{"loss", 0.1}}, {{"loss", 0.1}}})["loss"] == 0.1);
  CHECK(tune::is_nan(tune::mean_of({{{"loss", 1}}, {{"loss", std::nan("")}}})["loss"]));
}

TEST_CASE("runs wait for each other, and one that has ended counts with its last report") {
  tune::detail::repeats all(3);
  all.begin("");
  CHECK_FALSE(all.take());
  const auto report = [&](std::size_t run, std::uint64_t at, double loss) {
    all.report(run, {at, static_cast<double>(run), {{"loss", loss}}});
  };
  for (std::size_t run = 0; run < 3; ++run) report(run, 1, static_cast<double>(run));
  auto r = all.take();
  CHECK(r->iteration == 1U);
  CHECK(r->seconds == 2);
  CHECK(r->values["loss"] == 1);
  all.end(2);
  report(0, 2, 10);
  report(1, 2, 3);
  CHECK(all.take()->values["loss"] == 5);
  report(0, 3, 0);
  tune::detail::repeats later(3);
  later.begin("", all.written());  // of a checkpoint that was made when run 0 had come farther than run 1
  CHECK(later.has_ended(2));
  later.report(1, {3, 0, {{"loss", 1}}});
  CHECK_FALSE(later.waits(0));
  r = later.take();
  CHECK(r->iteration == 3U);
  CHECK(r->values["loss"] == 1);  // of 0, 1 and 2
}

TEST_CASE("each configuration runs three times, and its value is the mean") {
  in_world([] {
    folder f;
    const tune::experiment e = {
        .minimise = "loss", .trials = 12, .repeats = 3, .folder = f.path, .outputs = {tune::csv()}, .show = false};
    const auto r = tune::run<descend>(line, e);
    CHECK(r.count(status::complete) == 12U);
    for (const auto& t : r) {
      CHECK(t.iteration == 9U);
      CHECK(t.best_loss == doctest::Approx(loss_of(t.parameters["x"], 1, 9)));
      CHECK(t.last["steps"] == 9);
      CHECK(r.standard_error_of(t) == doctest::Approx(0.05 / std::sqrt(3.0)));
    }
    const std::string table = r.to_csv();
    CHECK(contains(table.substr(0, table.find('\n')), ",loss,steps,standard_error/loss,standard_error/steps,"));
    CHECK(contains(text_of(f.path + "/trials/00000/progress.csv"), "standard_error/loss"));
    const auto by_hand = tune::run<descend_by_hand>(line, {.minimise = "loss", .trials = 12, .show = false});
    for (const auto& t : by_hand) CHECK(t.best_loss == r[t.id].best_loss);

    const auto drawn = tune::run<draw>(line, {.minimise = "loss", .trials = 2, .repeats = 4, .show = false});
    for (const auto& t : drawn) {
      CHECK(t.last["repeat"] == 1.5);
      CHECK(drawn.standard_error_of(t) > 0);
    }
    CHECK(drawn[0].best_loss != drawn[1].best_loss);
    const auto plain = tune::run<noisy>(line, {.minimise = "loss", .trials = 3, .repeats = 2, .show = false});
    for (const auto& t : plain) CHECK(t.best_loss == t.parameters.get<double>("x"));
    const auto alone = tune::run<noisy>(line, {.minimise = "loss", .show = false});
    CHECK(tune::is_nan(alone.standard_error_of(alone[0])));
  });
}

TEST_CASE("schedulers and rules see the means") {
  in_world([] {
    for (const bool promotes : {false, true}) {
      CAPTURE(promotes);
      tune::experiment e = {.minimise = "loss", .trials = 18, .repeats = 3, .concurrency = 1, .show = false};
      if (promotes) e.scheduler = tune::asha_promotion({.max = 9, .eta = 3});
      else e.scheduler = tune::asha({.max = 9, .eta = 3});
      const auto r = tune::run<descend>(line, e);
      e.repeats = 1;
      const auto by_hand = tune::run<descend_by_hand>(line, e);
      CHECK(r.count(status::stopped) > 5U);
      for (const auto& t : r) {
        CHECK(t.state == by_hand[t.id].state);
        CHECK(t.iteration == by_hand[t.id].iteration);
        CHECK(t.best_loss == by_hand[t.id].best_loss);
        CHECK(t.last["steps"] == static_cast<double>(t.iteration));  // none began anew after a pause
      }
    }
    const auto r = tune::run<descend>(
        line, {.minimise = "loss", .trials = 4, .repeats = 3, .stop = {tune::at_most("loss", 0.55)}, .show = false});
    for (const auto& t : r) CHECK((t.best_loss <= 0.55 || t.iteration == 9U));
  });
}

TEST_CASE("classes are repeated, and populations exploit all runs of a trial") {
  in_world([] {
    for (const bool isolated : {false, true}) {
      CAPTURE(isolated);
      tune::experiment e = {.maximise = "height",
                            .trials = 12,
                            .repeats = 2,
                            .scheduler = tune::asha_promotion({.max = 9, .eta = 3}),
                            .show = false};
      if (isolated) e.isolate = true;
      const auto r = tune::run<climber>(line, e);
      CHECK(r.count(status::failed) == 0U);
      CHECK(r.best().iteration == 9U);
      for (const auto& t : r) {
        CHECK(t.best_loss == doctest::Approx(-static_cast<double>(t.iteration) * t.parameters.get<double>("x")));
        CHECK(t.last["number"] == 0.5);  // of runs 0 and 1
      }
    }
    const auto r = tune::run<descend>(line, {.minimise = "loss",
                                             .trials = 4,
                                             .repeats = 3,
                                             .scheduler = tune::pbt({.interval = 3, .synchronous = true}),
                                             .show = false});
    CHECK(r.count(status::complete) == 4U);
    for (const auto& t : r) CHECK(t.last["steps"] == 9);
  });
}

TEST_CASE("runs that end apart count to the end of the last one, also when the trial has been paused") {
  in_world([] {
    for (const bool with_folder : {false, true}) {
      for (const bool promotes : {false, true}) {
        CAPTURE(with_folder);
        CAPTURE(promotes);
        folder f;
        tune::experiment e = {.minimise = "loss", .trials = 6, .repeats = 3, .outputs = {}, .show = false};
        if (promotes) e.scheduler = tune::asha_promotion({.max = 9, .grace = 4, .eta = 1.5});
        if (with_folder) e.folder = f.path, e.checkpoints.every = 2;
        const auto r = tune::run<end_apart>(line, e);
        CHECK(r.count(status::failed) == 0U);
        if (!promotes) CHECK(r.count(status::complete) == 6U);
        for (const auto& t : r) {
          CHECK(t.best_loss == doctest::Approx(mean_apart(t.parameters["x"], t.iteration)));
          CHECK(t.last["begun"] == 1);  // no run began a second time
        }
      }
    }
  });
}

TEST_CASE("a run that fails fails the trial, which is tried again from the checkpoint of all its runs") {
  in_world([] {
    folder f;
    const auto r = tune::run<fail_once>({}, {.maximise = "steps",
                                             .repeats = 3,
                                             .retries = 1,
                                             .checkpoints = {.every = 2},
                                             .folder = f.path,
                                             .show = false});
    CHECK(r[0].state == status::complete);
    CHECK(r[0].failures == 1);
    CHECK(r[0].iteration == 6U);
    CHECK(r.best_value() == 6);
    double steps = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      r.checkpoint_of(r[0], repeat).unpack(steps);
      CHECK(steps == 6);
    }
    for (const bool isolated : {false, true}) {
      const tune::experiment e = {.minimise = "loss", .repeats = 3, .isolate = isolated, .show = false};
      const auto failed = tune::run<crash>({{"how", tune::grid({1, 2})}}, e);
      CHECK(failed[0].why == "repeat 1: no data");
      CHECK(failed[1].state == status::complete);
    }
    const auto crashed = tune::run<crash>({{"how", tune::grid({0, 2})}},
                                          {.minimise = "loss", .repeats = 3, .isolate = true, .show = false});
    CHECK(contains(crashed[0].why, "a segmentation fault"));
    CHECK(crashed[1].state == status::complete);
  });
}

TEST_CASE("runs that all report the same are told of at the end") {
  const auto said = [](auto run) {
    std::fflush(stderr);
    folder f;
    const std::string path = f.path + "/stderr";
    const int before = ::dup(STDERR_FILENO), file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(file, STDERR_FILENO);
    run();
    std::fflush(stderr);
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    ::close(file);
    return contains(text_of(path),
                    "the 2 runs of each trial have reported the same: take random numbers from trial.seed()");
  };
  in_world([&] {
    const tune::experiment e = {.minimise = "loss", .trials = 3, .repeats = 2, .show = false};
    CHECK(said([&] { tune::run<noisy>(line, e); }));
    CHECK_FALSE(said([&] { tune::run<draw>(line, e); }));
  });
}

TEST_CASE("repeats that cannot be are refused") {
  in_world([] {
    const auto mistake = [&](tune::experiment e) {
      e.minimise = "loss";
      e.show = false;
      return thrown<tune::error>([&] { tune::run<noisy>(line, e); });
    };
    CHECK(contains(mistake({.repeats = 0}), ".repeats is how often each configuration runs: 1 or more, not 0"));
    CHECK(contains(mistake({.counts = tune::counted::mean, .repeats = 2}), "give one of them"));
    CHECK(
        contains(thrown<tune::error>([&] { tune::run<on_team>(line, {.minimise = "loss", .repeats = 2, .ranks = 1}); }),
                 ".repeats is not for gangs"));
    CHECK(contains(thrown<tune::error>([&] { tune::study(line, {.minimise = "loss", .repeats = 2}); }), "mean_of"));
    folder f;
    tune::run<noisy>(line, {.minimise = "loss", .repeats = 2, .folder = f.path, .outputs = {}, .show = false});
    CHECK(contains(mistake({.repeats = 3, .folder = f.path}), "another number of .repeats (2 there, 3 here)"));
    CHECK(contains(mistake({.folder = f.path}), "another number of .repeats (2 there, 1 here)"));
  });
}
