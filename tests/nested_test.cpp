// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that submit tasks and wait for them, at any depth and on few ranks:
// waiting never holds a rank, and what belongs to a task (its exceptions, its
// rounding mode) stays with it while it waits.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cfenv>
#include <exception>
#include <set>

#include "support/world.hpp"

using manta::testing::executor;
using manta::testing::executors;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::tally;
using manta::testing::where;

namespace {

int same(int x) { return x; }
long whoami() { return 2; }  // async_test.cpp has a function of the same name that returns 1
int slow_same(int x) {
  manta::testing::busy(std::chrono::microseconds(100));
  return x;
}

long fib(int n) {
  if (n < 2) return n;
  const auto left = manta::async<fib>(n - 1);
  const auto right = manta::async<fib>(n - 2);
  return left.get() + right.get();
}

/// Without an end: in a line, in two branches, and by a range.
int recurse(int n) { return manta::async<recurse>(n + 1).get() + 1; }
int branch_off(int n) {
  const auto left = manta::async<branch_off>(n - 1), right = manta::async<branch_off>(n - 2);
  return left.get() + right.get();
}
int recurse_by_range(int n) { return manta::get(std::vector{manta::async<recurse_by_range>(n + 1)})[0]; }

long serial_fib(int n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

int descend(int depth) { return depth == 0 ? 0 : 1 + manta::async<descend>(depth - 1).get(); }

long leaf(long a, long b, long c) { return 100 * a + 10 * b + c; }
long branch(long a, long b) {
  std::vector<manta::future<long>> fs;
  for (long c = 0; c < 5; ++c) fs.push_back(manta::async<leaf>(a, b, c));
  long sum = 0;
  for (const long x : manta::get(fs)) sum += x;
  return sum;
}
long trunk(long a) {
  std::vector<manta::future<long>> fs;
  for (long b = 0; b < 5; ++b) fs.push_back(manta::async<branch>(a, b));
  long sum = 0;
  for (auto& f : manta::as_completed(fs)) sum += f.get();
  return sum;
}

/// Waits on this rank for a task on the next executor, and so on round the world.
int around(int hops, int at) {
  return hops == 0
             ? 0
             : 1 + manta::async<around>({.rank = executor(static_cast<std::size_t>(at + 1))}, hops - 1, at + 1).get();
}

int wait_for_given(manta::future<int> f) { return f.get(); }

/// Two tasks that each wait for what the other one started.
int ask_each_other(manta::actor<tally> t, int depth) {
  manta::async<&tally::arrive>(t).get();
  if (depth == 0) return 1;
  const auto a = manta::async<ask_each_other>({.rank = executor(0)}, t, depth - 1);
  const auto b = manta::async<ask_each_other>({.rank = executor(1)}, t, depth - 1);
  return a.get() + b.get();
}

/// Arrives, then waits for a future that exists only when everybody has arrived.
int meet(manta::actor<tally> t, manta::future<int> everybody) {
  manta::async<&tally::arrive>(t).get();
  return everybody.get();
}

int until(manta::actor<tally> t, int count) {
  manta::testing::poll_until("tasks that all wait at once",
                             [&] { return manta::testing::fetch(manta::async<&tally::count>(t)) >= count; });
  return count;
}

// ---- waiting while an exception is in the air ------------------------------------------------------------

/// Throws its own number, waits in the handler, and must find its own number again. Returns 0 when all is well.
int wait_in_catch(int number) {
  try {
    throw std::runtime_error(std::to_string(number));
  } catch (const std::exception& caught) {
    if (manta::async<slow_same>(number).get() != number) return 1;
    if (std::stoi(caught.what()) != number) return 2;
    try {
      throw;
    } catch (const std::exception& again) {
      if (std::stoi(again.what()) != number) return 3;
    }
  }
  return std::current_exception() == nullptr ? 0 : 4;
}

/// A task run by somebody's wait must see a clean world.
int sees_no_exception(int) {
  return (std::uncaught_exceptions() == 0 ? 0 : 1) + (std::current_exception() == nullptr ? 0 : 2);
}

struct waits_when_destroyed {
  int* result;
  int expected_uncaught;
  ~waits_when_destroyed() {
    *result = 0;
    if (std::uncaught_exceptions() != expected_uncaught) *result += 1;
    if (manta::async<sees_no_exception>(0).get() != 0) *result += 2;
    if (manta::async<slow_same>(5).get() != 5) *result += 4;
    if (std::uncaught_exceptions() != expected_uncaught) *result += 8;
  }
};

int wait_in_destructor(int unwinding) {
  int result = -1;
  try {
    const waits_when_destroyed guard{&result, unwinding};
    if (unwinding != 0) throw 1;
  } catch (int) {
  }
  return result;
}

/// Sets a rounding mode of its own and must still have it after a wait.
int keeps_its_modes(int number) {
  const int mode = number % 2 == 0 ? FE_UPWARD : FE_DOWNWARD;
  const int before = std::fegetround();
  std::fesetround(mode);
  const int fetched = manta::async<slow_same>(number).get();
  const int result =
      (before == FE_TONEAREST ? 0 : 1) + (std::fegetround() == mode ? 0 : 4) + (fetched == number ? 0 : 8);
  std::fesetround(FE_TONEAREST);
  return result;
}

/// Ranks that ran some of the tasks submitted here, waiting until all of `count` ranks have.
int ranks_that_share(int count) {
  std::set<int> seen;
  manta::testing::poll_until("all ranks take part", [&] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 50; ++i) {
      fs.push_back(manta::async([] {
        manta::testing::busy(std::chrono::microseconds(500));
        return where();
      }));
    }
    for (const int rank : manta::get(fs)) seen.insert(rank);
    return static_cast<int>(seen.size()) >= count;
  });
  return static_cast<int>(seen.size());
}

}  // namespace

TEST_CASE("a recursion in which every call is a task gives the serial result") {
  in_world([] {
    CHECK(manta::async<fib>(16).get() == serial_fib(16));
    CHECK(fib(12) == serial_fib(12));  // the driver recurses too
  });
}

TEST_CASE("tasks wait for tasks three levels down") {
  in_world([] {
    std::vector<manta::future<long>> fs;
    long expected = 0;
    for (long a = 0; a < 8; ++a) {
      fs.push_back(manta::async<trunk>(a));
      for (long b = 0; b < 5; ++b) {
        for (long c = 0; c < 5; ++c) expected += leaf(a, b, c);
      }
    }
    long sum = 0;
    for (const long x : manta::get(fs)) sum += x;
    CHECK(sum == expected);
  });
}

TEST_CASE("a thousand tasks wait for each other in a chain") {
  in_world([] {
    CHECK(manta::async<descend>(1000).get() == 1000);
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 20; ++i) fs.push_back(manta::async<descend>(100 + i));
    for (int i = 0; i < 20; ++i) CHECK(fs[static_cast<std::size_t>(i)].get() == 100 + i);
  });
}

TEST_CASE("a recursion without an end fails with a sentence, and what comes after it goes on") {
  manta::runtime_options few;
  few.max_waiting = 2000;
  in_world(few, [] {
    for (const auto& f : {manta::async<recurse>(0), manta::async<recurse_by_range>(0)}) {
      const std::string text = manta::testing::thrown<manta::task_failed>([&] { return f.get(); });
      CHECK_MESSAGE(manta::testing::contains(text, "tasks wait on this rank"), text);
      CHECK(manta::testing::contains(text, "max_waiting"));
      CHECK(text.size() < 4000);
    }
    CHECK(manta::async<fib>(10).get() == serial_fib(10));
  });
}

TEST_CASE("a recursion without an end in two branches ends the run with the sentence") {
  manta::runtime_options few;
  few.max_waiting = 2000;
  const std::string text = manta::testing::thrown<manta::error>([&] {
    manta::runtime rt(MPI_COMM_WORLD, few);
    rt.run([] { return manta::async<branch_off>(30).get(); });
    return 0;
  });
  CHECK_MESSAGE(manta::testing::contains(text, "max_waiting"), text);
}

TEST_CASE("a task waits for tasks on other ranks, and they for tasks on this one") {
  in_world([] {
    CHECK(manta::async<around>(50, 0).get() == 50);
    auto t = manta::spawn<tally>();
    CHECK(manta::async<ask_each_other>(t, 6).get() == 64);
    CHECK(manta::async<&tally::count>(t).get() == 127);
  });
}

TEST_CASE("two hundred tasks wait at once, whatever the number of ranks") {
  in_world([] {
    constexpr int tasks = 200;
    auto t = manta::spawn<tally>();
    const auto everybody = manta::async<until>(t, tasks);
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < tasks; ++i) fs.push_back(manta::async<meet>(t, everybody));
    for (const int x : manta::get(fs)) CHECK(x == tasks);
  });
}

TEST_CASE("many tasks wait for one future that is handed to them") {
  in_world([] {
    const auto last = manta::async<descend>(50);
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 1000; ++i) fs.push_back(manta::async<wait_for_given>(last));
    for (const int x : manta::get(fs)) CHECK(x == 50);
  });
}

TEST_CASE("a chain of tasks that each wait for the one before runs in any order of submission") {
  in_world([] {
    auto f = manta::async<same>(7);
    for (int i = 0; i < 500; ++i) f = manta::async<wait_for_given>(f);
    CHECK(f.get() == 7);
  });
}

TEST_CASE("a task that waits in a catch block finds its own exception again") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 200; ++i) fs.push_back(manta::async<wait_in_catch>(i));
    for (const int x : manta::get(fs)) CHECK(x == 0);
    CHECK(wait_in_catch(5) == 0);
  });
}

TEST_CASE("a destructor may wait, also while an exception unwinds the stack") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 100; ++i) fs.push_back(manta::async<wait_in_destructor>(i % 2));
    for (const int x : manta::get(fs)) CHECK(x == 0);
    CHECK(wait_in_destructor(1) == 0);
  });
}

TEST_CASE("a task keeps its rounding mode across a wait and shows it to nobody") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 1; i <= 100; ++i) fs.push_back(manta::async<keeps_its_modes>(i));
    for (const int x : manta::get(fs)) CHECK(x == 0);
    CHECK(std::fegetround() == FE_TONEAREST);
  });
}

TEST_CASE("functions of the same name in two files are two functions") {
  in_world([] { CHECK(manta::async<whoami>().get() == 2); });
}

namespace {

/// Takes the value over and waits; its rank serves others meanwhile.
std::size_t hold_on_to(std::vector<double> v, const manta::actor<gate>& g) {
  manta::testing::pass(g);
  return v.size();
}
std::size_t size_of(const std::vector<double>& v) { return v.size(); }

}  // namespace

TEST_CASE("a value that a waiting task has taken over is there for the next one") {
  in_world([] {
    for (const std::size_t size : {std::size_t{1'000}, std::size_t{100'000}}) {
      auto g = manta::spawn<gate>();
      const auto x = manta::put(std::vector<double>(size, 1));
      const int there = executors().back();
      const auto first = manta::async<hold_on_to>({.rank = there}, x, g);
      const auto other = manta::async<size_of>({.rank = there}, x);
      CHECK(other.get() == size);
      CHECK(manta::async<size_of>({.rank = there}, x).get() == size);
      manta::async<&gate::open>(g).get();
      CHECK(first.get() == size);
    }
  });
}

TEST_CASE("ranks that have nothing to do take part in what a task submits, while it gets the results one by one") {
  in_world([] {
    const int count = static_cast<int>(executors().size());
    for (const int rank : executors()) CHECK(manta::async<ranks_that_share>({.rank = rank}, count).get() == count);
  });
}

TEST_CASE("with rank0_tasks rank 0 takes its part of the driver's tasks, and of those that tasks submit") {
  in_world({.rank0_tasks = true}, [] {
    const int size = static_cast<int>(manta::size());
    CHECK(ranks_that_share(size) == size);
    for (int rank = 0; rank < size; ++rank) CHECK(manta::async<ranks_that_share>({.rank = rank}, size).get() == size);
  });
}
