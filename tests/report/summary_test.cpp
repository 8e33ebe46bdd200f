// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is made of the statistics of a run: the last line, the table, advice, JSON,
// metrics, the status. Each rule of the advice has a recorded run that triggers it
// and one that does not.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "manta/base/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/run_metrics.hpp"
#include "manta/report/run_page.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/statistics_json.hpp"
#include "manta/report/status.hpp"
#include "manta/report/summary.hpp"
#include "support/recorded_run.hpp"
#include "support/text.hpp"

using manta::statistics;
using manta::testing::add_function;
using manta::testing::add_ranks;
using manta::testing::empty_run;
using manta::testing::record;
using manta::testing::shares;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool advises(const statistics& s, const std::string& rule) {
  const auto all = manta::report::advice_for(s);
  return std::ranges::any_of(all, [&](const auto& a) { return a.rule == rule; });
}

/// A run of 100 s on rank 0 and eight working ranks, which did nothing wrong.
statistics good_run() {
  statistics s = empty_run(100);
  add_ranks(s, 8, shares(0, .1, 0, 0, 0, .9), shares(.95, .03, 0, 0, 0, .02));
  add_function(s, "work", 7600, 0.1);
  s.ready_seconds = 1000;
  return s;
}

/// The same, where the working ranks spent their time so.
statistics run_with(const manta::state_seconds& of_the_others,
                    const manta::state_seconds& of_rank_0 = shares(0, 0, 0, 0, 0, 1)) {
  statistics s = empty_run(100);
  add_ranks(s, 8, of_rank_0, of_the_others);
  add_function(s, "work", 7600, 0.1);
  s.ready_seconds = 1000;
  return s;
}

}  // namespace

TEST_CASE("a good run gets no advice, and a short one none about its time") {
  CHECK(manta::report::advice_for(good_run()).empty());
  statistics s = empty_run(0.5);
  add_ranks(s, 8, shares(0, 0, 0, 0, 0, 1), shares(0.01, 0, 0, 0, 0, .99));
  CHECK(manta::report::advice_for(s).empty());
}

TEST_CASE("one task that holds all ranks is named") {
  const auto all = manta::report::advice_for(manta::testing::study());
  REQUIRE(!all.empty());
  CHECK(all[0].rule == "one task holds all");
  CHECK(contains(all[0].what, "One task of refine(mesh const&) (\"mesh 17\") took 96.3 s"));
  CHECK(contains(all[0].what, "ranks waited for it"));
  CHECK(all[0].share > 0.2);
}

TEST_CASE("too little parallelism is told from a driver that computes") {
  statistics s = run_with(shares(.2, .01, 0, 0, 0, .79));
  s.ready_seconds = 0;
  CHECK(advises(s, "too little parallelism"));
  CHECK(!advises(s, "driver is the neck"));
  s = run_with(shares(.2, .01, 0, 0, 0, .79), shares(0, .1, 0, 0, 0, 0, .9));
  s.ready_seconds = 0;
  CHECK(advises(s, "driver is the neck"));
  CHECK(!advises(s, "too little parallelism"));
}

TEST_CASE("tasks that are short beside manta's own work are named") {
  statistics s = run_with(shares(.3, .6, 0, 0, 0, .1));
  s.functions.clear();
  add_function(s, "tiny", 100'000'000, 1e-6);
  CHECK(advises(s, "tasks too short"));
  CHECK(!advises(good_run(), "tasks too short"));
}

TEST_CASE("a value that is sent again and again is named") {
  statistics s = run_with(shares(.5, .2, .2, 0, 0, .1));
  s.same_value_bytes = std::uint64_t{90} << 30U;
  s.same_value_count = 1884;
  s.same_value_function = "work";
  CHECK(advises(s, "same value by value"));
  s.same_value_count = 9;
  CHECK(!advises(s, "same value by value"));
}

TEST_CASE("waits for values, for gangs and for one actor are told apart") {
  CHECK(advises(run_with(shares(.5, .1, .3, 0, 0, .1)), "values under way"));
  CHECK(!advises(run_with(shares(.8, .1, .1)), "values under way"));
  CHECK(advises(run_with(shares(.5, .1, 0, .4)), "gangs do not fit"));
  CHECK(!advises(run_with(shares(.85, .1, 0, .05)), "gangs do not fit"));
  statistics s = run_with(shares(.1, .1, 0, 0, .8));
  s.actors.push_back({"boss", 2, 1000, 90, 4000});
  CHECK(advises(s, "mailbox of one actor"));
  s.actors[0].waited = 10;
  CHECK(!advises(s, "mailbox of one actor"));
}

TEST_CASE("lack of memory and too many threads are named") {
  statistics s = run_with(shares(.5, .2, .3));
  s.ranks[3].spilled_bytes = std::uint64_t{10} << 30U;
  CHECK(advises(s, "memory"));
  s.ranks[3].spilled_bytes = 0;
  CHECK(!advises(s, "memory"));
  s = good_run();
  s.nodes[0].cores = 9;
  s.nodes[0].threads_per_rank = 8;
  CHECK(advises(s, "threads"));
  s.nodes[0].threads_per_rank = 1;
  CHECK(!advises(s, "threads"));
}

TEST_CASE("the time limit and failures are named") {
  statistics s = good_run();
  s.allocation_seconds = 1000;
  CHECK(advises(s, "time limit"));
  s.allocation_seconds = 150;
  CHECK(!advises(s, "time limit"));
  s.why_ended = "the allocation ends at 12:00:00";
  CHECK(advises(s, "time limit"));
  s = good_run();
  s.functions[0].failed = 1000;
  CHECK(advises(s, "failures"));
  s.functions[0].failed = 100;
  CHECK(!advises(s, "failures"));
}

TEST_CASE("the last line has the number of tasks, the time and what to do") {
  const std::string line = manta::report::last_line(manta::testing::study());
  CHECK(contains(line, "tasks in 5:12 on 64 ranks"));
  CHECK(contains(line, "3 failed"));
  CHECK(contains(line, "One task of refine"));
  CHECK(line.back() == '\n');
}

TEST_CASE("the table has the functions, and marks estimates") {
  const std::string table = manta::report::summary_table(manta::testing::study());
  for (const char* const part : {"simulate(setup const&)", "refine(mesh const&)", "812 004", "~", "mesh 17",
                                 "efficiency", "what would help", "assembly", "1 884"}) {
    CHECK_MESSAGE(contains(table, part), part);
  }
}

TEST_CASE("ranks without numbers are named in the table") {
  statistics s = good_run();
  s.ranks[4].is_known = false;
  CHECK(contains(manta::report::summary_table(s), "missing"));
}

TEST_CASE("metrics have functions and states, never ranks") {
  const std::string metrics = manta::report::run_metrics(manta::testing::study());
  CHECK(contains(metrics, "manta_tasks_total{function=\"refine(mesh const&)\",outcome=\"done\"} 640"));
  CHECK(contains(metrics, "manta_task_seconds_count{function=\"simulate(setup const&)\"}"));
  CHECK(!contains(metrics, "rank=\""));
  CHECK(metrics.back() == '\n');
}

TEST_CASE("the status says how far a run is, and whether it will fit") {
  manta::report::run_status s;
  s.seconds = 40;
  s.done = 54;
  s.from_journal = 34;
  s.failed = 1;
  s.running = 6;
  s.waiting_for_room = 59;
  s.rate = 1.5;
  CHECK(s.tasks() == 120);
  CHECK(contains(manta::report::status_text(s), "54 of 120 tasks (34 from the journal), 6 run, 1 failed; 43 s left"));
  s.allocation_left = 30;
  CHECK(s.is_too_long());
  CHECK(contains(manta::report::status_text(s), "until the end of the allocation"));
}

TEST_CASE("the rate of the last minute is told from that before") {
  manta::report::task_rate rate;
  for (int second = 1; second <= 100; ++second) rate.note(second, static_cast<std::uint64_t>(10 * second));
  for (int second = 101; second <= 160; ++second)
    rate.note(second, static_cast<std::uint64_t>(1000 + 20 * (second - 100)));
  CHECK(rate.last_minute() == doctest::Approx(20).epsilon(0.02));
  CHECK(rate.before() == doctest::Approx(10).epsilon(0.02));
}

TEST_CASE("the page stays small however long the run, and needs no network") {
  const std::string page = manta::report::run_page(manta::testing::study());
  CHECK(page.size() < 500'000);
  CHECK(!contains(page, "http://"));
  CHECK(!contains(page, "https://"));
  CHECK(contains(page, "default-src 'none'"));
}

TEST_CASE(
    "a file that is replaced is whole; links lead to it still, and pipes and devices are written to as they are") {
  const manta::testing::folder f;
  const std::string file = f.path + "/report.html", link = f.path + "/link", pipe = f.path + "/pipe";
  manta::output::replace_file(file, "first");
  REQUIRE(::symlink(file.c_str(), link.c_str()) == 0);
  manta::output::replace_file(link, "second");
  CHECK(manta::testing::text_of(file) == "second");
  struct stat s {};
  REQUIRE(::lstat(link.c_str(), &s) == 0);
  CHECK(S_ISLNK(s.st_mode));
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(manta::output::replace_file(pipe, "nobody reads"), manta::error);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  manta::output::replace_file(pipe, "third");
  char bytes[8] = {};
  CHECK(::read(reader, bytes, sizeof bytes) == 5);
  ::close(reader);
  CHECK_THROWS_WITH_AS(manta::output::replace_file("/dev/full", "fourth"),
                       "manta: cannot write /dev/full: No space left on device", manta::error);
  REQUIRE(::stat("/dev/full", &s) == 0);
  CHECK(S_ISCHR(s.st_mode));
}

TEST_CASE("the state of a thousand ranks is at most 40 lines, and names what is long, silent and waited for") {
  manta::report::run_state s;
  s.why = "asked for by SIGUSR2";
  s.status.seconds = 3731;
  s.status.done = 11'402;
  s.status.running = 900;
  for (int r = 0; r < 1000; ++r) {
    manta::report::rank_situation& rank = s.ranks.emplace_back();
    rank.rank = r;
    rank.host = "n" + std::to_string(r / 16);
    rank.answers = r != 31;
    rank.is_dead = r == 40;
    rank.is_in_driver = r == 0;
    if (r > 0 && r < 900) {
      rank.task_count = 1;
      rank.tasks.push_back({"refine", "mesh " + std::to_string(r), r, rank.host, r == 23 ? 2470. : 5.});
    }
    if (r == 23) rank.tasks[0].name += "\nof \x01 two lines";
    rank.actors.push_back({"boss", r, static_cast<std::uint64_t>(r)});
    rank.waits.push_back({"'driver' waits for 'sum'", r == 7 ? 50. : 3., {"solve()", "main"}});
    rank.wait_count = 3;
  }
  const std::string text = manta::report::state_text(s);
  CHECK(std::ranges::count(text, '\n') <= 40);
  CHECK(contains(text, "mesh 23 of   two lines"));
  for (const char* const part :
       {"state at 1:02:11, asked for by SIGUSR2", "11 402 done", "rank 23 n1", "mesh 23", "driver's own code", "silent",
        "rank 31", "dead", "rank 40", "others", "'boss'",
        "1 000 times: 'driver' waits for 'sum', 50 s, in solve() < main", "2 000 further waits"}) {
    CHECK_MESSAGE(contains(text, part), part);
  }
}
