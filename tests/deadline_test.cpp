// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deadlines: a task that has not started in time fails with timeout, one that
// has is left alone. And which failures are worth another attempt, and when.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::sum_over_ranks;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;
std::atomic<long> ran{0};

int count_run(int x) { return ++ran, x; }
int add(int a, int b) { return a + b; }
int busy_for(int milliseconds) {
  manta::testing::busy(std::chrono::milliseconds(milliseconds));
  return milliseconds;
}
/// Short tasks and one that stays, of one function: the scheduler takes it for short and sends others behind it.
int work(int milliseconds) {
  if (milliseconds != 0) return busy_for(milliseconds);
  ++ran;
  return 0;
}
int fail_until(int attempts) {
  ++ran;
  if (manta::this_task::attempt() < attempts) {
    throw std::runtime_error("attempt <" + std::to_string(manta::this_task::attempt()) + "> fails");
  }
  return manta::this_task::attempt();
}
int fail_out_of_range(int) { return ++ran, std::vector<int>(3).at(10); }

template <class T>
std::string timeout_text(const manta::future<T>& f) {
  return manta::testing::thrown<manta::timeout>([&] { (void)f.get(); });
}
template <class T>
bool is_cancelled(const manta::future<T>& f) {
  try {
    (void)f.get();
  } catch (const manta::cancelled&) {
    return true;
  }
  return false;
}

int until_told() {
  while (!manta::this_task::stop_requested()) {
  }
  return 0;
}

bool is_runtime_error(const manta::task_failed& f) { return contains(f.details().type, "runtime_error"); }
bool before_third(const manta::task_failed& f) { return f.details().attempt < 2 && !contains(f.what(), "<2>"); }
bool throws(const manta::task_failed&) { throw 1; }

}  // namespace

TEST_CASE("a task whose inputs do not come in time fails with timeout, and so does what depends on it") {
  ran = 0;
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    const auto begin = clock_type::now();
    const auto f = manta::async<count_run>({.name = "too late", .deadline = 20ms}, input);
    const auto second = manta::async<add>({.name = "second"}, 1, f);
    const std::string text = timeout_text(f);
    const auto waited = clock_type::now() - begin;
    CHECK(waited >= 20ms);
    MESSAGE("a wait for a deadline of 20 ms took " << std::chrono::duration<double, std::milli>(waited).count()
                                                   << " ms");
    CHECK(contains(text, "'too late' had not started when its deadline of 20 ms"));
    CHECK(contains(timeout_text(second), "not run because of it: 'second'"));
    manta::async<&gate::open>(g).get();
    CHECK(input.get() == 3);
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a task that is queued behind others fails at its deadline, while its rank still computes") {
  ran = 0;
  in_world([] {
    std::vector<manta::future<int>> warm;
    for (int i = 0; i < 200; ++i) warm.push_back(manta::async<work>(0));
    manta::get(warm);  // the function is known to be short: tasks are sent ahead
    std::vector<manta::future<int>> long_ones, queued;
    const bool alone = manta::size() == 1;  // then a task that waits to be told would keep the driver from telling it
    for (const int rank : manta::testing::executors()) {
      long_ones.push_back(alone ? manta::async<work>({.rank = rank}, 30) : manta::async<until_told>({.rank = rank}));
    }
    long_ones[0].wait_for(1ms);
    for (std::size_t i = 0; i < 60; ++i) {
      queued.push_back(i % 2 == 0 ? manta::async<work>({.rank = manta::testing::executor(i), .deadline = 5ms}, 0)
                                  : manta::async<work>({.retries = 3, .deadline = 5ms}, 0));
    }
    if (alone) manta::testing::busy(6ms);  // else it runs them as it waits for them
    for (const auto& f : queued) CHECK(!timeout_text(f).empty());
    for (const auto& f : long_ones) {
      if (alone) {
        CHECK(f.get() == 30);
      } else {
        CHECK(manta::cancel(f));  // it has not ended: the deadlines were told while it computed
      }
    }
    ran -= 200;
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a task that has started is never ended by its deadline") {
  in_world([] {
    std::vector<manta::future<int>> started;
    for (const int rank : manta::testing::executors()) {
      started.push_back(manta::async<busy_for>({.rank = rank, .deadline = 400ms}, 500));
    }
    for (const auto& f : started) CHECK(f.get() == 500);
    CHECK(manta::async<add>({.deadline = std::chrono::hours(1)}, 1, 2).get() == 3);  // does not hold the end of the run
  });
}

TEST_CASE("a deadline of nothing has passed already; the longest possible one never does") {
  ran = 0;
  in_world([] {
    CHECK(!timeout_text(manta::async<count_run>({.deadline = 0s}, 1)).empty());
    CHECK(!timeout_text(manta::async<count_run>({.deadline = -1s}, 1)).empty());
    CHECK(manta::async<add>({.deadline = std::chrono::nanoseconds::max() - 1ns}, 1, 2).get() == 3);
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a deadline that was never looked at before the wait still holds") {
  ran = 0;
  in_world([] {
    std::vector<manta::future<int>> fs;
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    for (int i = 0; i < 1000; ++i)
      fs.push_back(manta::async<count_run>({.deadline = 1ms + std::chrono::microseconds(i % 7)}, input));
    manta::testing::busy(3ms);  // the driver computes meanwhile
    manta::async<&gate::open>(g).get();
    for (const auto& f : fs) CHECK(!timeout_text(f).empty());
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("tasks on workers have deadlines too") {
  ran = 0;
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    for (const int rank : manta::testing::executors()) {
      const auto f = manta::async(
          {.rank = rank},
          [](manta::future<int> late) {
            const auto waits = manta::async<count_run>({.deadline = 3ms}, late);
            const auto placed = manta::async<count_run>({.rank = manta::rank(), .deadline = 3ms}, late);
            const auto runs = manta::async<add>(
                {.rank = manta::testing::executor(static_cast<std::size_t>(manta::rank())), .deadline = 60s}, 1, 2);
            return (!timeout_text(waits).empty()) + (!timeout_text(placed).empty()) + runs.get();
          },
          input);
      CHECK(f.get() == 5);
    }
    manta::async<&gate::open>(g).get();
    CHECK(input.get() == 3);
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("retry_if decides which failures are run again, on whatever rank they happened") {
  ran = 0;
  in_world([] {
    for (const int rank : manta::testing::executors()) {
      CHECK(manta::async<fail_until>({.rank = rank, .retries = 5, .retry_if = is_runtime_error}, 3).get() == 3);
      CHECK_THROWS_AS(
          manta::async<fail_out_of_range>({.rank = rank, .retries = 5, .retry_if = is_runtime_error}, 1).get(),
          manta::task_failed);
      CHECK_THROWS_WITH_AS(manta::async<fail_until>({.rank = rank, .retries = 9, .retry_if = before_third}, 9).get(),
                           doctest::Contains("<2>"), manta::task_failed);
      CHECK_THROWS_AS(manta::async<fail_until>({.rank = rank, .retries = 9, .retry_if = throws}, 9).get(),
                      manta::task_failed);
      ran -= 4 + 1 + 3 + 1;
    }
    CHECK(
        manta::async<fail_until>({.retries = 2, .retry_if = [](const manta::task_failed&) { return true; }}, 2).get() ==
        2);
    ran -= 3;
    const auto nested = manta::async(
        [](int attempts) {
          return manta::async<fail_until>(
                     {.rank = manta::testing::executor(1), .retries = 5, .retry_if = is_runtime_error}, attempts)
              .get();
        },
        2);
    CHECK(nested.get() == 2);
    ran -= 3;
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("retry_after waits before each further attempt, twice as long each time, and may be cancelled") {
  ran = 0;
  in_world([] {
    const auto begin = clock_type::now();
    CHECK(manta::async<fail_until>({.retries = 3, .retry_after = 5ms}, 3).get() == 3);
    CHECK(clock_type::now() - begin >= 35ms);
    const auto once = manta::async<fail_until>({.retries = 3, .deadline = 10s, .retry_after = 1h}, 3);
    once.wait_for(20ms);
    CHECK(manta::cancel(once));
    CHECK(is_cancelled(once));
  });
  CHECK(sum_over_ranks(ran) <= 5);
}

TEST_CASE("a driver that fails while a task waits for its next attempt ends it") {
  const auto run = [] {
    in_world([] {
      const auto f = manta::async<fail_until>({.retries = 3, .retry_after = 1h}, 3);
      const auto g =
          manta::async<fail_until>({.retries = 3, .retry_if = is_runtime_error, .deadline = 1h, .retry_after = 1h}, 3);
      f.wait_for(5ms);
      throw std::runtime_error("part of the test");
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), std::runtime_error);
  } else {
    CHECK_THROWS_AS(run(), manta::driver_failed);
  }
}
