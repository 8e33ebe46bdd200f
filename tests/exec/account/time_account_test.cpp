// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The account of a rank's time, with a clock that the test sets: no time is lost
// or counted twice, whatever was measured and whatever was estimated.
#include "manta/exec/account/time_account.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "manta/base/clock.hpp"
#include "manta/exec/account/rank_report.hpp"
#include "support/test_functions.hpp"

using manta::rank_state;
using manta::exec::running_task;
using manta::exec::time_account;
using manta::exec::time_bins;

namespace {

constexpr std::uint64_t begin = 1'000'000;

std::uint64_t total(const time_account& a) {
  const auto sums = a.bins().totals();
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}
std::uint64_t in(const time_account& a, rank_state state) { return a.bins().totals()[static_cast<std::size_t>(state)]; }
/// Ticks of so many nanoseconds.
std::uint64_t ticks(double ns) { return static_cast<std::uint64_t>(ns / manta::base::nanoseconds_per_tick()); }

}  // namespace

TEST_CASE("bins that are too narrow for a run become wider, and keep all time") {
  time_bins bins;
  bins.begin(begin);
  bins.add(rank_state::task, begin, begin + 1000, 3);
  bins.add(rank_state::idle, begin + 1000, begin + (std::uint64_t{1} << 40));
  bins.add(rank_state::task, begin + (std::uint64_t{1} << 40), begin + (std::uint64_t{1} << 40) + 7, 4);
  CHECK(bins.totals()[static_cast<std::size_t>(rank_state::task)] == 1007);
  CHECK(bins.totals()[static_cast<std::size_t>(rank_state::idle)] == (std::uint64_t{1} << 40) - 1000);
  CHECK(bins.function_of(0) == 3);
  CHECK(bins.count(begin + (std::uint64_t{1} << 40)) <= time_bins::most);
}

TEST_CASE("the function with most time of a bin is found among many") {
  time_bins bins;
  bins.begin(begin);
  std::uint64_t now = begin;
  for (std::uint32_t round = 0; round < 100; ++round) {
    for (std::uint32_t f = 0; f < 10; ++f) {
      const std::uint64_t long_as = f == 6 ? 900 : 300;
      bins.add(rank_state::task, now, now + long_as, f);
      now += long_as;
    }
  }
  CHECK(bins.function_of(0) == 6);
}

TEST_CASE("a task's own time leaves out what ran while it waited") {
  manta::exec::task_trace trace;
  time_account a(trace);
  a.begin_run(begin, true, 4);
  running_task outer(1, 0), inner(2, 1);
  a.pause(outer, true, begin + 100);  // the driver waits
  a.begin_task(outer, begin + 150);
  a.pause(outer, false, begin + 1'150);
  a.begin_task(inner, begin + 1'200);
  a.end_task(inner, begin + 6'200);
  a.leave();
  a.resume(outer, false, begin + 6'300);
  a.end_task(outer, begin + 7'300);
  CHECK(outer.own_ticks == 2'000);
  CHECK(outer.waited_ticks == 5'150);
  CHECK(inner.own_ticks == 5'000);
  CHECK(in(a, rank_state::task) == 7'000);
  CHECK(in(a, rank_state::driver) == 100);
  CHECK(in(a, rank_state::own) == 200);
  CHECK(total(a) == 7'300);
}

TEST_CASE("many short tasks are counted exactly, and their time is estimated") {
  manta::exec::task_trace trace;
  time_account a(trace);
  a.begin_run(begin, false, 4);
  std::uint64_t now = begin;
  const std::uint64_t work = ticks(100), gap = ticks(50);
  std::uint64_t measured = 0, before = now;
  for (int i = 0; i < 100'000; ++i) {
    running_task task(1, 2);
    const bool is_measured = a.measures();
    if (is_measured) a.begin_task(task, now + gap);
    now += gap + work;
    if (is_measured) {
      a.end_task(task, now);
      ++measured;
    } else {
      a.count_task(task, before, now);
    }
    before = now;
  }
  a.settle(now, false, true);
  CHECK(measured < 100'000 / 100);
  CHECK(total(a) == now - begin);
  const auto& row = *a.functions().rows()[0];
  CHECK(row.count == 100'000);
  CHECK(static_cast<double>(row.ticks) == doctest::Approx(1e5 * static_cast<double>(work)).epsilon(0.02));
  CHECK(in(a, rank_state::task) == row.ticks);
  CHECK(std::accumulate(row.durations.begin(), row.durations.end(), std::uint64_t{0}) == 100'000);
}

TEST_CASE("a long task among short ones is measured, and not taken for many") {
  manta::exec::task_trace trace;
  time_account a(trace);
  a.begin_run(begin, false, 4);
  std::uint64_t now = begin, before = now;
  const auto run = [&](std::uint32_t function, std::uint64_t work) {
    running_task task(1, function);
    const bool is_measured = a.measures();
    if (is_measured) a.begin_task(task, now);
    now += work;
    is_measured ? a.end_task(task, now) : a.count_task(task, before, now);
    before = now;
  };
  for (int i = 0; i < 1000; ++i) run(2, ticks(100));
  const std::uint64_t second = ticks(1e9);
  run(3, second);
  CHECK(a.measures());
  a.settle(now, false, true);
  CHECK(total(a) == now - begin);
  const auto& row = *a.functions().rows()[1];
  CHECK(row.function == 3);
  CHECK(row.count == 1);
  CHECK(static_cast<double>(row.ticks) == doctest::Approx(static_cast<double>(second)).epsilon(0.01));
  REQUIRE(row.longest.size() == 1);
}

TEST_CASE("a driver that computes between short tasks keeps its time") {
  manta::exec::task_trace trace;
  time_account a(trace);
  a.begin_run(begin, true, 4);
  std::uint64_t now = begin, before = now;
  const auto run = [&](std::uint64_t work) {
    running_task task(1, 2), driver;
    const bool is_measured = a.measures();
    if (is_measured) a.begin_task(task, now);
    now += work;
    is_measured ? a.end_task(task, now) : a.count_task(task, before, now);
    a.resume_at_once(driver, true);
    before = now;
  };
  for (int i = 0; i < 1000; ++i) run(ticks(100));
  const std::uint64_t second = ticks(1e9);
  now += second;  // the driver
  for (int i = 0; i < 100; ++i) run(ticks(100));
  a.settle(now, true, true);
  CHECK(total(a) == now - begin);
  CHECK(static_cast<double>(in(a, rank_state::driver)) == doctest::Approx(static_cast<double>(second)).epsilon(0.01));
}

TEST_CASE("a rank that rests counts why") {
  manta::exec::task_trace trace;
  time_account a(trace);
  a.begin_run(begin, false, 4);
  a.rest(rank_state::idle, begin + 100);
  a.rest(rank_state::fetch, begin + 1'100);
  CHECK(a.rests());
  a.end_rest(begin + 1'300);
  CHECK(!a.rests());
  a.settle(begin + 1'400, false, true);
  CHECK(in(a, rank_state::own) == 200);
  CHECK(in(a, rank_state::idle) == 1'000);
  CHECK(in(a, rank_state::fetch) == 200);
}
