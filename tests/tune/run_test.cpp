// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Experiments on ranks: functions and classes as trials, gangs, checkpoints,
// failures of every kind, continuing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <manta/tune.hpp>
#include <thread>

#include "support/world.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;  // on rank 0: the trials' ranks see it as well
using manta::testing::in_world;
using manta::testing::thrown;
using tune::status;

namespace {

const tune::space line = {{"x", tune::uniform(0, 1)}};

void descend(const tune::config& c, tune::trial& trial) {
  const double x = c["x"];
  while (trial.iteration() < 20) {
    if (!trial.report({{"loss", x + 1.0 / static_cast<double>(trial.iteration() + 1)}})) return;
  }
}
double square(const tune::config& c) { return c.get<double>("x") * c.get<double>("x"); }

struct settings {
  double x = 0;
  int n = 0;
  template <class Visitor>
  void describe(Visitor& field) {
    field("x", x, tune::uniform(0, 1));
    field("n", n, tune::integers(1, 3));
  }
};
double scaled(const settings& s) { return s.x * s.n; }

/// Counts how often it was made on this rank.
struct climber {
  static inline int made = 0;
  double x = 0;
  int steps = 0;

  climber() { ++made; }
  void setup(const tune::config& c) { x = c["x"]; }
  bool reset(const tune::config& c) {
    x = c["x"];
    steps = 0;
    return true;
  }
  tune::metrics step() { return {{"height", x * ++steps}}; }
  int save() const { return steps; }
  void load(int s) { steps = s; }
};
/// What this process writes to stderr meanwhile.
template <class Function>
std::string errors_of(Function&& function) {
  std::fflush(stderr);
  folder f;
  const std::string path = f.path + "/stderr";
  const int before = ::dup(STDERR_FILENO), file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  function();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(file);
  return manta::testing::text_of(path);
}

int made_here() { return climber::made; }

}  // namespace

TEST_CASE("a function is searched, and the best is that of all reports") {
  in_world([] {
    const auto r = tune::run<descend>(line, {.minimise = "loss", .trials = 30, .show = false});
    CHECK(r.size() == 30U);
    double least = 9;
    for (const auto& t : r) {
      CHECK(t.state == status::complete);
      CHECK(t.iteration == 20U);
      least = std::min(least, t.parameters.get<double>("x") + 0.05);
    }
    CHECK(r.best_value() == doctest::Approx(least));
    CHECK(r.best().best_at == 20);
  });
}

TEST_CASE("an objective may return its value, take a struct, or be a lambda") {
  in_world([] {
    const auto a = tune::run<square>(line, {.minimise = "y", .trials = 20, .show = false});
    CHECK(a.best_value() == doctest::Approx(std::pow(a.best().parameters.get<double>("x"), 2)));
    const auto b = tune::run<scaled>({.maximise = "product", .trials = 20, .show = false});
    const auto s = b.best().parameters.as<settings>();
    CHECK(b.best_value() == doctest::Approx(s.x * s.n));
    const auto c =
        tune::run([](const tune::config& k) { return k.get<double>("a") + k.get<double>("b"); },
                  {{"a", tune::grid({1, 2})}, {"b", tune::grid({10, 20, 30})}}, {.maximise = "sum", .show = false});
    CHECK(c.size() == 6U);
    CHECK(c.best_value() == 32);
  });
}

TEST_CASE("the trials are the same on any number of ranks") {
  in_world([] {
    const auto r = tune::run<square>(line, {.minimise = "y", .trials = 40, .show = false});
    tune::study alone(line, {.minimise = "y", .trials = 40});
    for (const auto& t : r) CHECK(t.parameters == alone.next()->parameters);
  });
}

TEST_CASE("a class is an actor that stays for the next trial if it can be reset") {
  in_world([] {
    int before = 0;
    for (const int rank : manta::testing::executors()) before += manta::async<made_here>({.rank = rank}).get();
    const auto r =
        tune::run<climber>(line, {.maximise = "height", .trials = 24, .stop = {tune::after(5)}, .show = false});
    CHECK(r.count(status::complete) == 24U);
    for (const auto& t : r) CHECK(t.best_loss == doctest::Approx(-5 * t.parameters.get<double>("x")));
    int after = 0;
    for (const int rank : manta::testing::executors()) after += manta::async<made_here>({.rank = rank}).get();
    CHECK(after - before <= static_cast<int>(manta::testing::executors().size()));
  });
}

TEST_CASE("ASHA stops most trials early; promotion pauses them and goes on from checkpoints") {
  in_world([] {
    const auto stopped = tune::run<climber>(
        line, {.maximise = "height", .trials = 60, .scheduler = tune::asha({.max = 9, .eta = 3}), .show = false});
    CHECK(stopped.count(status::stopped) > 20U);
    CHECK(stopped.count(status::complete) >= 1U);
    const auto promoted = tune::run<climber>(
        line,
        {.maximise = "height", .trials = 60, .scheduler = tune::asha_promotion({.max = 9, .eta = 3}), .show = false});
    std::size_t once = 0, end = 0;
    for (const auto& t : promoted) {
      once += t.iteration == 1;
      end += t.iteration == 9;
      // a trial that had begun anew after a pause would be behind
      CHECK(t.best_loss == doctest::Approx(-static_cast<double>(t.iteration) * t.parameters.get<double>("x")));
    }
    CHECK(once >= 36U);
    CHECK(end >= 2U);
    const auto band = tune::run<climber>(
        line, {.maximise = "height", .trials = 22, .scheduler = tune::hyperband({.max = 9}), .show = false});
    CHECK(band.best().iteration == 9U);
    CHECK(band.count(status::failed) == 0U);
  });
}

namespace {

/// Its value grows by its rate each step; an exploiting trial goes on from the value of another.
void grow(const tune::config& c, tune::trial& trial) {
  double value = 0;
  trial.keep(value);
  while (trial.iteration() < 40) {
    value += c.get<double>("rate");
    if (!trial.report({{"value", value}})) return;
  }
}

}  // namespace

TEST_CASE("PBT exploits by checkpoints, asynchronously and synchronously") {
  in_world([] {
    for (const bool synchronous : {false, true}) {
      const auto r = tune::run<grow>({{"rate", tune::uniform(0, 1)}},
                                     {.maximise = "value",
                                      .trials = 8,
                                      .scheduler = tune::pbt({.interval = 5, .synchronous = synchronous}),
                                      .show = false});
      const auto plain =
          tune::run<grow>({{"rate", tune::uniform(0, 1)}}, {.maximise = "value", .trials = 8, .show = false});
      CAPTURE(synchronous);
      CHECK(r.count(status::complete) == 8U);
      double worst = 1e9, worst_plain = 1e9;
      for (const auto& t : r) worst = std::min(worst, -t.loss);
      for (const auto& t : plain) worst_plain = std::min(worst_plain, -t.loss);
      if (synchronous) CHECK(worst > worst_plain);  // else the last one to run may have nobody left to follow
      CHECK(r.best_value() >= plain.best_value());
      for (const auto& t : r) CHECK(-t.loss <= 40);  // nobody got a checkpoint of a later time
    }
  });
}

namespace {

/// Forgets to call keep. The epochs that were really trained are reported.
void forget(const tune::config& c, tune::trial& trial) {
  for (int epoch = 1; epoch <= 27; ++epoch) {
    if (!trial.report({{"loss", c.get<double>("x") + 1.0 / epoch}, {"epoch", epoch}})) return;
  }
}
/// Has files of its own for its state.
void keep_count(const tune::config& c, tune::trial& trial) {
  trial.keep();
  while (trial.iteration() < 27) {
    if (!trial.report("loss", c.get<double>("x") + 1.0 / static_cast<double>(trial.iteration() + 1))) return;
  }
}

}  // namespace

TEST_CASE("a function that keeps nothing is named once, and no epoch counts that was not trained") {
  in_world([] {
    const std::string remedy = "call trial.keep(model) before the first report";
    const auto lines_with = [](const std::string& text, const std::string& words) {
      std::size_t lines = 0;
      for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++lines;
      return lines;
    };
    for (const bool promotes : {false, true}) {
      tune::experiment e = {.minimise = "loss", .trials = 27, .show = false};
      e.scheduler = tune::hyperband({.max = 27});
      if (promotes) e.scheduler = tune::asha_promotion({.max = 27, .eta = 3});
      const std::string said = errors_of([&] {
        const auto r = tune::run<forget>(line, e);
        CHECK(r.count(status::complete) > 0U);
        for (const auto& t : r) CHECK(t.last["epoch"] == t.at);
      });
      CAPTURE(said);
      CHECK(lines_with(said, remedy) == 1U);
      CHECK(contains(said, "begins anew when it goes on"));
      CHECK(errors_of([&] { tune::run<keep_count>(line, e); }).empty());
    }
    for (const bool synchronous : {false, true}) {
      const std::string said = errors_of([&] {
        const auto r = tune::run<forget>(line, {.minimise = "loss",
                                                .trials = 8,
                                                .scheduler = tune::pbt({.interval = 3, .synchronous = synchronous}),
                                                .stop_all = {tune::report_budget(20'000)},
                                                .show = false});
        CHECK(r.count(status::complete) == 8U);
        CHECK(r.stopped_because().empty());
      });
      CAPTURE(said);
      CHECK(lines_with(said, remedy) == 1U);
      CHECK(contains(said, "none is copied, and each trains by itself"));
    }
    CHECK(contains(
        errors_of([] { tune::run<keep_count>(line, {.minimise = "loss", .scheduler = tune::pbt(), .show = false}); }),
        "pbt copies the best of a population"));
    CHECK(contains(
        errors_of([] { tune::run<keep_count>(line, {.minimise = "loss", .scheduler = tune::asha(), .show = false}); }),
        "asha: trials end at 27, so none comes to the mark 64;"));
  });
}

namespace {

void misbehave(const tune::config& c, tune::trial& trial) {
  switch (c.get<int>("how")) {
    case 0: throw std::runtime_error("cannot open data.bin");
    case 1: trial.report({{"loss", std::nan("")}}); return;
    case 2: return;
    case 3: trial.report({{"accuracy", 1}}); return;
    case 4:  // goes on although it was told to end
      for (;;) trial.report({{"loss", 2}});
    case 5: throw 7;
    case 6: throw manta::fatal("the device is gone");
    default: trial.report({{"loss", 1}});
  }
}
struct needs_state {
  int steps = 0;
  void setup(const tune::config&) {}
  tune::metrics step() {
    if (++steps == 4 && fail) {
      fail = false;
      throw std::runtime_error("once");
    }
    return {{"steps", steps}};
  }
  int save() const { return steps; }
  void load(int s) { steps = s; }
  static inline bool fail = true;
};
void rearm() { needs_state::fail = true; }

}  // namespace

TEST_CASE("trials that throw, report NaN, nothing or another name are named, and the others go on") {
  in_world([] {
    const auto r = tune::run<misbehave>({{"how", tune::grid({0, 1, 2, 3, 4, 5, 6, 7})}},
                                        {.minimise = "loss", .trials = 2, .stop = {tune::after(3)}, .show = false});
    CHECK(r.size() == 16U);
    for (std::size_t i = 0; i < 16; ++i) {
      CAPTURE(i);
      const std::vector<std::string> why = {"cannot open data.bin",
                                            "reported loss = nan",
                                            "ended without a report",
                                            "reported \"accuracy\"",
                                            "reached 3",
                                            "not a std::exception",
                                            "the device is gone",
                                            "ended"};
      CAPTURE(r[i].why);
      CHECK(contains(r[i].why, why[i % 8]));
      CHECK(r[i].state == (i % 8 == 4 || i % 8 == 7 ? status::complete : status::failed));
    }
    CHECK(r.best_value() == 1);
  });
}

TEST_CASE("each failure is one line on stderr, also without a folder") {
  in_world([] {
    const std::string said = errors_of([] {
      tune::run<misbehave>({{"how", tune::grid({0, 1, 2, 3, 5, 6, 7})}},
                           {.minimise = "loss", .trials = 1, .name = "study"});
    });
    for (const char* text : {"study: trial 0 failed: cannot open data.bin\n",
                             "study: trial 1 failed: reported loss = nan at 1: it is not continued\n",
                             "study: trial 2 failed: ended without a report of \"loss\"\n",
                             "study: trial 3 failed: reported \"accuracy\", but the experiment's metric is \"loss\"\n",
                             "study: trial 4 failed: threw something that is not a std::exception\n",
                             "study: trial 5 failed: the device is gone\n"}) {
      CAPTURE(said);
      CHECK(contains(said, text));
    }
    std::size_t lines = 0;
    for (std::size_t at = said.find("failed: "); at != std::string::npos; at = said.find("failed: ", at + 1)) ++lines;
    CHECK(lines == 6U);
    const std::string again = errors_of([] {
      tune::run<misbehave>({{"how", 0}}, {.minimise = "loss", .retries = 1, .name = "study"});
    });
    CHECK(contains(
        again,
        "study: trial 0 failed: cannot open data.bin; it is tried again\nstudy: trial 0 failed: cannot open data.bin\n"));
  });
}

TEST_CASE("a folder whose trials have failed is said to be continued, and how they are started again") {
  folder f;
  in_world([&] {
    const auto start = [&](bool retry) {
      return errors_of([&] {
        const auto r = tune::run<misbehave>(
            {{"how", 3}},
            {.minimise = "loss", .folder = f.path, .retry_failed = retry, .outputs = {}, .name = "study"});
        CHECK(contains(thrown<manta::error>([&] { r.best(); }),
                       ".retry_failed = true starts the failed trials of " + f.path + " again"));
      });
    };
    CHECK(!contains(start(false), "continues"));
    CHECK(contains(start(false), "study: continues " + f.path + " with 1 trial: 1 failed; .retry_failed = true"));
    const std::string again = start(true);
    CHECK(contains(again, "study: continues " + f.path + " with 1 trial: 1 failed; .fresh = true begins anew"));
    CHECK(contains(again, "study: trial 0 failed: reported \"accuracy\""));
  });
}

namespace {

/// The first trial fails at its first attempt, when others have begun elsewhere, and says at the second whether it is
/// there.
void fail_once(const tune::config& c, tune::trial& trial) {
  const std::string folder = c.get<std::string>("folder"), failed = folder + "/failed", other = folder + "/other";
  const auto exists = [](const std::string& file) { return ::access(file.c_str(), F_OK) == 0; };
  if (trial.id() > 0) {
    std::ofstream(other, std::ios::app);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    trial.report({{"moved", -1}});
  } else if (exists(failed)) {
    trial.report({{"moved", manta::testing::text_of(failed) == std::to_string(manta::rank()) ? 0 : 1}});
  } else {
    if (manta::size() > 2) manta::testing::poll_until("a trial on another rank", [&] { return exists(other); });
    manta::output::replace_file(failed, std::to_string(manta::rank()));
    throw std::runtime_error("once");
  }
}

}  // namespace

TEST_CASE("a failed trial is tried again on another rank, if there is one") {
  folder f;
  in_world([&] {
    const auto r =
        tune::run<fail_once>({{"folder", f.path}}, {.maximise = "moved", .trials = 60, .retries = 1, .show = false});
    CHECK(r[0].failures == 1);
    CHECK(r[0].best["moved"] == (manta::testing::executors().size() > 1 ? 1 : 0));
  });
}

namespace {

[[gnu::noinline]] void endless() {
  for (;;) manta::testing::busy(std::chrono::seconds(1));
}
void break_down(const tune::config& c, tune::trial& trial) {
  trial.report({{"loss", 3}});
  switch (c.get<int>("how")) {
    case 0: ::raise(SIGSEGV); break;
    case 1: std::abort();
    case 2: ::_exit(3);
    case 3: endless(); break;
    case 4: throw std::runtime_error("cannot open data.bin");
    case 5: throw manta::fatal("the device is gone");
    case 6: trial.report({{"loss", std::nan("")}}); break;
    default: trial.report({{"loss", 1}});
  }
}
/// Crashes at its fourth step in its first life, hangs there in its second.
void recover(const tune::config& c, tune::trial& trial) {
  int steps = 0;
  trial.keep(steps);
  while (trial.iteration() < 8) {
    if (++steps == 4) {
      for (const char* way : {"crash", "hang"}) {
        const std::string mark = c.get<std::string>("folder") + "/" + way;
        if (::access(mark.c_str(), F_OK) == 0) continue;
        manta::output::replace_file(mark, "");
        if (way[0] == 'c') std::abort();
        endless();
      }
    }
    if (!trial.report({{"steps", steps}})) return;
  }
}

}  // namespace

TEST_CASE("isolated trials may crash, exit and hang, on any number of ranks") {
  in_world([] {
    const auto r =
        tune::run<break_down>({{"how", tune::grid({0, 1, 2, 3, 4, 5, 6, 7})}},
                              {.minimise = "loss", .silence = std::chrono::seconds(2), .isolate = true, .show = false});
    const std::vector<std::string> why = {"a segmentation fault",
                                          "abort",
                                          "exit(3)",
                                          "has not reported for 2 s, and its process ended with abort",
                                          "cannot open data.bin",
                                          "the device is gone",
                                          "reported loss = nan",
                                          "ended"};
    for (std::size_t i = 0; i < 8; ++i) {
      CAPTURE(i);
      CAPTURE(r[i].why);
      CHECK(contains(r[i].why, why[i]));
      CHECK(r[i].state == (i == 7 ? status::complete : status::failed));
      CHECK(r[i].best_loss == (i == 7 ? 1 : 3));
    }
  });
}

TEST_CASE("isolated trials go on from checkpoints, with a folder and without") {
  for (const bool with_folder : {false, true}) {
    folder marks, f;
    CAPTURE(with_folder);
    in_world([&] {
      const auto r = tune::run<recover>({{"folder", marks.path}}, {.maximise = "steps",
                                                                   .retries = 2,
                                                                   .silence = std::chrono::seconds(2),
                                                                   .isolate = true,
                                                                   .checkpoints = {.every = 1},
                                                                   .folder = with_folder ? f.path : "",
                                                                   .outputs = {},
                                                                   .show = false});
      CHECK(r[0].state == status::complete);
      CHECK(r[0].failures == 2);
      CHECK(r[0].iteration == 8U);
      CHECK(r.best_value() == 8);  // none was made twice
      const auto promoted = tune::run<climber>(line, {.maximise = "height",
                                                      .trials = 12,
                                                      .scheduler = tune::asha_promotion({.max = 9, .eta = 3}),
                                                      .isolate = true,
                                                      .show = false});
      for (const auto& t : promoted) {
        CHECK(t.best_loss == doctest::Approx(-static_cast<double>(t.iteration) * t.parameters.get<double>("x")));
      }
      CHECK(promoted.best().iteration == 9U);
    });
  }
}

TEST_CASE("a failed trial is tried again from its last checkpoint") {
  in_world([] {
    for (const int rank : manta::testing::executors()) manta::async<rearm>({.rank = rank}).get();
    const auto r = tune::run<needs_state>(
        {}, {.maximise = "steps", .stop = {tune::after(8)}, .retries = 9, .checkpoints = {.every = 2}, .show = false});
    CHECK(r.best_value() == 8);
    CHECK(r[0].iteration == 8U);
    CHECK(r[0].failures >= 1);
    CHECK(r[0].state == status::complete);
  });
}

namespace {

/// Waits for a file that the test makes when the experiment is over: as long as it must, so nothing is measured.
void hang(const tune::config& c, tune::trial& trial) {
  if (c.get<int>("hangs") == 1) {
    const auto end = std::chrono::steady_clock::now() + manta::testing::patience;
    while (::access(c.get<std::string>("until").c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  trial.report({{"loss", 1}});
}

}  // namespace

TEST_CASE("a trial that hangs is given up, and the others go on elsewhere") {
  if (manta::testing::world_size() < 4) {
    MESSAGE("left out: with fewer than three ranks for trials the one that hangs blocks them all");
    return;
  }
  folder f;
  const std::string said = errors_of([&] {
    in_world([&] {
      const std::string file = f.path + "/over";
      const auto r = tune::run<hang>({{"hangs", tune::grid({1, 0, 0, 0, 0, 0})}, {"until", file}},
                                     {.minimise = "loss", .silence = std::chrono::milliseconds(500), .show = false});
      manta::output::replace_file(file, "");
      CHECK(r.count(status::complete) == 5U);
      CHECK(r[0].state == status::failed);
      CHECK(contains(r[0].why, "has not reported for 0.5 s"));
    });
  });
  CAPTURE(said);
  CHECK(!contains(said, "deadlock"));  // the runner that was given up ends when its trial reports
}

namespace {

/// Throws when it is asked for the first trial.
struct unlucky {
  void begin(const tune::space&, std::uint64_t) {}
  std::optional<tune::config> ask(tune::trial_number) { throw std::runtime_error("out of luck"); }
  void tell(tune::trial_number, double) {}
};

}  // namespace

TEST_CASE("after an exception the report says why the run has ended, not that it goes on") {
  folder f;
  in_world([&] {
    const tune::experiment e{
        .minimise = "y", .searcher = unlucky(), .folder = f.path, .outputs = {tune::html_report()}, .show = false};
    CHECK(contains(thrown<std::runtime_error>([&] { tune::run<square>(line, e); }), "out of luck"));
    const std::string page = manta::testing::text_of(f.path + "/report.html");
    CHECK(contains(page, "\"running\":false"));
    CHECK(contains(page, "an exception ended this run: out of luck"));
  });
}

namespace {

double team_sum(manta::team team, const tune::config& c) {
  double mine = c.get<double>("x") + team.rank(), sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, team.comm());
  return sum;
}
/// Each member keeps a state of its own.
void team_train(manta::team team, const tune::config& c, tune::trial& trial) {
  int steps = 100 * team.rank();
  trial.keep(steps);
  while (trial.iteration() < 9) {
    ++steps;
    int wrong = steps - 100 * team.rank() == static_cast<int>(trial.iteration()) + 1 ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, team.comm());
    if (wrong > 0) throw std::runtime_error("a member is out of step");
    if (!trial.report({{"loss", c.get<double>("x") - steps}})) return;
  }
}
/// Members whose clocks tell different times at a report, and who wait for each other between reports.
void team_uneven(manta::team team, const tune::config&, tune::trial& trial) {
  while (trial.iteration() < 150) {
    int one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, team.comm());
    manta::testing::busy(
        std::chrono::microseconds(trial.iteration() % 2 == static_cast<unsigned>(team.rank()) ? 1500 : 100));
    if (!trial.report({{"members", one}})) return;
  }
}
struct team_class {
  manta::team* members = nullptr;
  std::unique_ptr<manta::team> held;
  void setup(manta::team t, const tune::config&) { held = std::make_unique<manta::team>(t); }
  tune::metrics step() {
    int one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, held->comm());
    return {{"members", one}};
  }
};

}  // namespace

TEST_CASE("a trial may be a gang: functions, classes, pauses with a checkpoint of each member") {
  in_world([] {
    const int members = manta::testing::executors().size() >= 2 ? 2 : 1;
    const auto r = tune::run<team_sum>(line, {.minimise = "sum", .trials = 10, .ranks = members, .show = false});
    for (const auto& t : r) {
      CHECK(t.best_loss == doctest::Approx(members * t.parameters.get<double>("x") + (members == 2 ? 1 : 0)));
    }
    const auto p = tune::run<team_train>(line, {.minimise = "loss",
                                                .trials = 12,
                                                .scheduler = tune::asha_promotion({.max = 9, .eta = 3}),
                                                .ranks = members,
                                                .show = false});
    CHECK(p.count(status::failed) == 0U);
    CHECK(p.best().iteration == 9U);
    const auto c = tune::run<team_class>(
        {}, {.maximise = "members", .trials = 3, .stop = {tune::after(2)}, .ranks = members, .show = false});
    CHECK(c.best_value() == members);
    CHECK(contains(thrown<tune::error>([] { tune::run<square>(line, {.minimise = "y", .ranks = 2}); }),
                   "manta::team first"));
    CHECK(contains(thrown<tune::error>([] { tune::run<team_sum>(line, {.minimise = "sum", .isolate = true}); }),
                   "not for gangs"));
  });
}

TEST_CASE("the members of a gang report together, whatever their clocks say") {
  in_world([] {
    const int members = manta::testing::executors().size() >= 2 ? 2 : 1;
    const auto r = tune::run<team_uneven>({}, {.maximise = "members", .trials = 3, .ranks = members, .show = false});
    CHECK(r.count(status::complete) == 3U);
    CHECK(r.best().iteration == 150U);
  });
}

TEST_CASE("trials share what a resource allows") {
  manta::runtime_options o;
  o.resources = {{"slot", 0.5}};
  in_world(o, [] {
    const auto r =
        tune::run<square>(line, {.minimise = "y", .trials = 20, .resources = {{"slot", 0.5}}, .show = false});
    CHECK(r.count(status::complete) == 20U);
    CHECK_THROWS_AS(tune::run<square>(line, {.minimise = "y", .resources = {{"slot", 2}}, .show = false}),
                    manta::unschedulable);
  });
}

TEST_CASE("more trials at once than ranks take turns") {
  in_world([] {
    const auto r = tune::run<descend>(line, {.minimise = "loss",
                                             .trials = 20,
                                             .scheduler = tune::asha({.max = 20}),
                                             .concurrency = 2 * manta::testing::executors().size() + 1,
                                             .show = false});
    CHECK(r.size() == 20U);
    CHECK(r.count(status::failed) == 0U);
  });
}

TEST_CASE("an experiment in a task, and one after the other in a folder") {
  folder f;
  in_world([&] {
    const tune::experiment e = {
        .minimise = "loss", .trials = 5, .checkpoints = {.every = 4}, .folder = f.path, .show = false};
    const auto first = tune::run<grow>(
        {{"rate", tune::uniform(0, 1)}},
        {.maximise = "value", .trials = 5, .checkpoints = {.every = 4}, .folder = f.path, .show = false});
    double value = 0;
    const auto c = first.best_checkpoint();
    c.unpack(value);
    CHECK(value == doctest::Approx(first.best().parameters.get<double>("rate") * static_cast<double>(c.iteration)));
    CHECK(c.iteration == 40U);
    const auto second = tune::run<grow>(
        {{"rate", tune::uniform(0, 1)}},
        {.maximise = "value", .trials = 5, .checkpoints = {.every = 4}, .folder = f.path, .show = false});
    CHECK(second.to_csv() == first.to_csv());  // read, not run
    const auto inner = manta::async(
        [](int n) {
          return tune::run<square>(line, {.minimise = "y", .trials = static_cast<std::size_t>(n), .show = false})
              .best_value();
        },
        10);
    CHECK(inner.get() < 1);
  });
}
