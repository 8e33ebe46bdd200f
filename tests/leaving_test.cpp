// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Before the end of the allocation: tasks that cannot end in time are not
// started, and when nothing else is left the run ends, long before its time.
#include <doctest/doctest.h>

#include <atomic>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <ctime>
#include <thread>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::executor;
using manta::testing::executors;
using namespace std::chrono_literals;

namespace {

std::atomic<int> runs{0};  // of tasks that should not run, on this rank
int not_to_run(int x) {
  ++runs;
  return x;
}
int add(int a, int b) { return a + b; }
int team_size(manta::team team) {
  ++runs;
  return team.size();
}
int slow(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  ++runs;
  return ms;
}
/// Makes a task for its own rank that takes too long; tells what became of it.
std::string parent(int others) {
  auto inner = manta::async<not_to_run>({.duration = 2h}, 1);
  int sum = 0;
  for (int i = 0; i < others; ++i) sum += manta::async<add>(i, 1).get();
  try {
    return "it ran: " + std::to_string(inner.get() + sum);
  } catch (const manta::cancelled& e) {
    return e.what();
  }
}

manta::runtime_options ends_in(std::int64_t seconds) {
  manta::runtime_options o;
  o.end_time = static_cast<std::int64_t>(std::time(nullptr)) + seconds;
  o.end_margin = 0;
  return o;
}
/// The allocation ends in an hour; the driver is told by the runtime whether the run has to end.
template <class Driver>
void an_hour_before_the_end(Driver driver) {
  manta::runtime rt(MPI_COMM_WORLD, ends_in(3600));
  runs = 0;
  CHECK_FALSE(rt.leaving());
  manta::testing::checked_run(rt, driver);
  CHECK(rt.leaving());
  CHECK(manta::testing::sum_over_ranks(runs) == 0);
}

}  // namespace

TEST_CASE("what is said to take too long is not started, wherever it would run; the rest is done first") {
  an_hour_before_the_end([] {
    std::vector<manta::future<int>> late, others;
    late.push_back(manta::async<not_to_run>({.duration = 2h}, 1));
    late.push_back(manta::async<not_to_run>({.rank = executor(0), .duration = 61min}, 1));
    late.push_back(manta::async<not_to_run>({.priority = 3, .retries = 2, .duration = 2h}, 1));
    late.push_back(manta::async<not_to_run>({.deadline = 30min, .duration = 2h}, 1));
    late.push_back(manta::async<team_size>({.ranks = 1, .duration = 2h}));
    const auto behind = manta::async<add>(late[0], 1);
    const auto told = manta::async<parent>(20);
    for (int i = 0; i < 100; ++i)
      others.push_back(manta::async<add>({.rank = executor(static_cast<std::size_t>(i)), .duration = 1s}, i, i));
    for (int i = 0; i < 100; ++i) others.push_back(manta::async<add>(i, i));
    for (std::size_t i = 0; i < others.size(); ++i) CHECK(others[i].get() == 2 * static_cast<int>(i % 100));
    for (const auto& f : late) CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("would take longer"), manta::cancelled);
    CHECK_THROWS_AS(behind.get(), manta::cancelled);
    CHECK(contains(told.get(), "would take longer"));
    CHECK(manta::this_task::stop_requested());
    CHECK_THROWS_AS(manta::async<add>(1, 2).get(), manta::cancelled);
  });
}

TEST_CASE("a driver that does not wait ends as well") {
  an_hour_before_the_end([] {
    for (int i = 0; i < 20; ++i)
      (void)manta::async<not_to_run>({.rank = i % 2 == 0 ? -1 : executor(0), .duration = 2h}, i);
    (void)manta::async<parent>(0);
  });
}

TEST_CASE("what was set aside says so, and may be cancelled") {
  an_hour_before_the_end([] {
    std::vector<manta::future<int>> late;
    late.push_back(manta::async<not_to_run>({.duration = 2h}, 1));
    late.push_back(manta::async<not_to_run>({.rank = executor(0), .duration = 2h}, 1));
    for (const auto& f : late) {
      std::string why;
      manta::testing::poll_until("it to be set aside", [&] {
        (void)manta::async<add>(1, 1).get();
        return contains(why = manta::explain(f), "takes about 7200 s");
      });
      CHECK_MESSAGE(contains(why, "the run has to end"), why);
      CHECK(manta::cancel(f));
      CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("cancelled by"), manta::cancelled);
    }
    CHECK(manta::async<add>(1, 1).get() == 2);
    CHECK_THROWS_AS(manta::async<not_to_run>({.duration = 2h}, 1).get(), manta::cancelled);
  });
}

TEST_CASE("how long tasks of a function take is learned") {
  manta::runtime rt(MPI_COMM_WORLD, ends_in(4));
  runs = 0;
  manta::testing::checked_run(rt, [] {
    CHECK(manta::async<slow>(2500).get() == 2500);
    auto second = manta::async<slow>(2500);
    CHECK_THROWS_AS(second.get(), manta::cancelled);
  });
  CHECK(rt.leaving());
  CHECK(manta::testing::sum_over_ranks(runs) == 1);
}

TEST_CASE("without an end nothing is too long, and a negative duration is refused") {
  manta::testing::in_world([] {
    CHECK(manta::async<add>({.duration = 100000h}, 1, 2).get() == 3);
    CHECK_THROWS_WITH_AS((manta::async<add>({.duration = -1s}, 1, 2)), doctest::Contains("duration"), manta::error);
  });
}
