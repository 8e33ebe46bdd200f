// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What task_options change, and that a request which no rank can meet is
// refused at the call.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "support/world.hpp"

using manta::testing::in_world;
using manta::testing::where;

namespace {

std::string my_name() { return std::string(manta::this_task::name()); }
int my_node() { return static_cast<int>(manta::node()); }
int my_attempt() { return static_cast<int>(manta::this_task::attempt()); }
std::uint64_t my_seed() { return static_cast<std::uint64_t>(manta::this_task::seed()); }
std::vector<std::uint64_t> child_seeds(int n) {
  std::vector<manta::future<std::uint64_t>> fs;
  for (int i = 0; i < n; ++i) fs.push_back(manta::async<my_seed>());
  return manta::get(fs);
}

/// Fails until the attempt that is asked for.
int succeed_at(int attempt) {
  const int now = my_attempt();
  if (now < attempt) throw std::runtime_error("attempt " + std::to_string(now));
  return now;
}

/// The first attempt waits before it fails, so that a retry meets a task that left its stack once.
int wait_then_fail_once(int x) {
  const int result = manta::async<where>().get();
  if (my_attempt() == 0) throw std::runtime_error("first attempt");
  return result >= 0 ? x : -1;
}

const manta::runtime_options with_slots{.resources = {{"slot", 2.0}}};

struct dweller {
  int rank() { return where(); }
};

}  // namespace

TEST_CASE("a task sees the name it was given, and without one that of its function") {
  in_world([] {
    CHECK(manta::async<my_name>({.name = "preprocess"}).get() == "preprocess");
    CHECK(manta::testing::contains(manta::async<my_name>().get(), "my_name"));
    CHECK(manta::async({.name = "lambda"}, [] { return std::string(manta::this_task::name()); }).get() == "lambda");
  });
}

TEST_CASE("rank pins a task to that rank") {
  in_world([] {
    for (const int rank : manta::testing::executors()) {
      std::vector<manta::future<int>> fs;
      for (int i = 0; i < 50; ++i) fs.push_back(manta::async<where>({.rank = rank}));
      for (const int x : manta::get(fs)) CHECK(x == rank);
    }
  });
}

TEST_CASE("a pinned task runs there although a future or a large argument lies elsewhere") {
  in_world([] {
    for (const int rank : manta::testing::executors()) {
      const auto text = manta::async([](int n) { return std::string(static_cast<std::size_t>(n), 'z'); }, 100'000);
      const auto place = manta::async(
          {.rank = rank}, [](const std::string& s) { return s.size() == 100'000U ? where() : -1; }, text);
      CHECK(place.get() == rank);
    }
  });
}

TEST_CASE("node pins a task to that node") {
  in_world([] {
    const int here = static_cast<int>(manta::node());
    CHECK(manta::async<my_node>({.node = here}).get() == here);
  });
}

TEST_CASE("a task and an actor have no rank and no node that they except") {
  in_world([] {
    const std::vector<int> all = manta::testing::executors();
    for (const int rank : all) {
      if (all.size() == 1) break;
      std::vector<manta::future<int>> fs;
      for (int i = 0; i < 50; ++i) fs.push_back(manta::async<where>({.except = {{rank}}}));
      for (const int x : manta::get(fs)) CHECK(x != rank);
      const auto lives = manta::spawn<dweller>({.except = {{rank}}});
      CHECK(manta::async<&dweller::rank>(lives).get() != rank);
    }
    CHECK_THROWS_WITH_AS((manta::async<where>({.cpus = 0, .except = {.nodes = {static_cast<int>(manta::node())}}})),
                         doctest::Contains("except node 0"), manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::async<where>({.except = {{-1}}})), doctest::Contains("task_options::except = -1"),
                         manta::error);
  });
}

TEST_CASE("rank 0 runs a task that is pinned to it, whoever asks") {
  in_world([] {
    const auto first = manta::async<where>({.rank = 0});
    CHECK(manta::async<where>({.rank = manta::size() - 1}).get() == manta::size() - 1);
    CHECK(first.get() == 0);
    const auto ask = [] { return manta::async<where>({.rank = 0}).get(); };
    CHECK(manta::async(ask).get() == 0);
  });
}

TEST_CASE("a rank or node that does not exist is refused at the call") {
  in_world([] {
    const int size = static_cast<int>(manta::size());
    CHECK_THROWS_AS((manta::async<where>({.rank = size})), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<where>({.rank = 1'000'000})), manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::async<where>({.rank = -5})), doctest::Contains("rank = -5"), manta::error);
    CHECK_THROWS_AS((manta::async<where>({.node = 1'000'000})), manta::unschedulable);
    CHECK(manta::async<where>().get() >= 0);
  });
}

TEST_CASE("more cpus than any rank has are refused at the call with what there is") {
  in_world([] {
    CHECK_THROWS_WITH_AS((manta::async<where>({.cpus = 1'000'000})), doctest::Contains("cpu"), manta::unschedulable);
    CHECK(manta::async<where>({.cpus = 1}).get() >= 0);
    CHECK(manta::async<where>({.cpus = 0}).get() >= 0);
  });
}

TEST_CASE("a named resource is met where it exists, however many tasks want it") {
  in_world(with_slots, [] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 200; ++i) fs.push_back(manta::async<where>({.resources = {{"slot", i % 2 == 0 ? 2.0 : 0.5}}}));
    for (const int x : manta::get(fs)) CHECK(x >= 0);
  });
}

TEST_CASE("a named resource that no rank has enough of is refused with what there is") {
  in_world(with_slots, [] {
    CHECK_THROWS_WITH_AS((manta::async<where>({.resources = {{"slot", 3.0}}})), doctest::Contains("slot"),
                         manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::async<where>({.resources = {{"unicorn", 1.0}}})), doctest::Contains("unicorn"),
                         manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::async<where>({.resources = {{"unicorn", 1.0}}})), doctest::Contains("slot"),
                         manta::unschedulable);
    CHECK(manta::async<where>({.resources = {{"slot", 2.0}}}).get() >= 0);
  });
}

TEST_CASE("a task inside a task is refused in the same way") {
  in_world([] {
    const bool refused = manta::async([] {
                           try {
                             manta::async<where>({.rank = 1'000'000});
                           } catch (const manta::unschedulable&) {
                             return true;
                           }
                           return false;
                         }).get();
    CHECK(refused);
  });
}

TEST_CASE("retries run a failing task again and attempt counts them") {
  in_world([] {
    CHECK(manta::async<my_attempt>().get() == 0);
    CHECK(manta::async<succeed_at>({.retries = 3}, 2).get() == 2);
    CHECK(manta::async<succeed_at>({.retries = 3}, 0).get() == 0);
    CHECK(manta::async<wait_then_fail_once>({.retries = 1}, 8).get() == 8);
    try {
      manta::async<succeed_at>({.retries = 2}, 100).get();
      CHECK_MESSAGE(false, "three attempts cannot have been enough");
    } catch (const manta::task_failed& e) {
      CHECK(e.details().attempt == 2);
      CHECK(manta::testing::contains(e.what(), "attempt 2"));
    }
    const auto kept = manta::async<succeed_at>({.retries = 1}, manta::async<succeed_at>({.retries = 1}, 1));
    CHECK(kept.get() == 1);
  });
}

TEST_CASE("a task's seed depends on its place in the graph and on nothing else") {
  std::vector<std::uint64_t> runs[2];
  for (auto& run : runs) {
    run = in_world([] {
      std::vector<std::uint64_t> all = manta::async<child_seeds>(20).get();
      for (int i = 0; i < 20; ++i) all.push_back(manta::async<my_seed>().get());
      return all;
    });
  }
  CHECK(runs[0] == runs[1]);
  std::vector<std::uint64_t> sorted = runs[0];
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());  // no two tasks share one
}
