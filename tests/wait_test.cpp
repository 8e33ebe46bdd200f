// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// wait and as_completed. Late results are held by a gate that the driver
// opens, so each split has exactly one right answer.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <set>

#include "support/world.hpp"

using manta::testing::gate;
using manta::testing::held;
using manta::testing::in_world;
using namespace std::chrono_literals;

namespace {

int same(int x) { return x; }
int fail(int x) { throw std::runtime_error("failure " + std::to_string(x)); }
int busy_for(int microseconds) {
  manta::testing::busy(std::chrono::microseconds(microseconds));
  return microseconds;
}

std::vector<int> values(const std::vector<manta::future<int>>& fs) { return manta::get(fs); }

/// The same split made by a task instead of the driver.
std::vector<int> wait_in_task(manta::actor<gate> g) {
  std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<same>(1), manta::async<same>(2)};
  auto [ready, pending] = manta::wait(fs, {.count = 2});
  manta::async<&gate::open>(g).get();
  auto result = values(ready);
  for (const int x : values(pending)) result.push_back(x);
  return result;
}

}  // namespace

TEST_CASE("wait returns after the first two results, both parts in input order") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<same>(1),
                                             manta::async<held<int>>(g, 2), manta::async<same>(3),
                                             manta::async<held<int>>(g, 4)};
    auto [ready, pending] = manta::wait(fs, {.count = 2});
    CHECK(ready.size() == 2U);
    CHECK(pending.size() == 3U);
    CHECK(values(ready) == std::vector<int>{1, 3});
    manta::async<&gate::open>(g).get();
    CHECK(values(pending) == std::vector<int>{0, 2, 4});
  });
}

TEST_CASE("wait without a count returns with at least one result") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<same>(1)};
    auto [ready, pending] = manta::wait(fs);
    CHECK(values(ready) == std::vector<int>{1});
    CHECK(pending.size() == 1U);
    manta::async<&gate::open>(g).get();
    CHECK(pending.front().get() == 0);
  });
}

TEST_CASE("wait gives up when the time is over and says what is there") {
  in_world([] {
    auto g = manta::spawn<gate>();
    std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<held<int>>(g, 1)};
    const auto before = std::chrono::steady_clock::now();
    auto [none, all] = manta::wait(fs, {.count = 1, .timeout = 20ms});
    CHECK(std::chrono::steady_clock::now() - before >= 20ms);
    CHECK(none.empty());
    CHECK(all.size() == 2U);
    fs.push_back(manta::async<same>(2));
    fs.back().wait();
    auto [ready, pending] = manta::wait(fs, {.count = 3, .timeout = 20ms});
    CHECK(values(ready) == std::vector<int>{2});
    CHECK(pending.size() == 2U);
    auto [now, later] = manta::wait(fs, {.count = 3, .timeout = 0ms});
    CHECK(now.size() == 1U);
    CHECK(later.size() == 2U);
    manta::async<&gate::open>(g).get();
    CHECK(values(later) == std::vector<int>{0, 1});
  });
}

TEST_CASE("wait for all gives everything as ready, in input order") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 1000; ++i) fs.push_back(manta::async<same>(i));
    auto [ready, pending] = manta::wait(fs, {.count = fs.size()});
    CHECK(ready.size() == 1000U);
    CHECK(pending.empty());
    const auto got = values(ready);
    CHECK(std::is_sorted(got.begin(), got.end()));
  });
}

TEST_CASE("wait with a count of zero returns at once") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0)};
    auto [ready, pending] = manta::wait(fs, {.count = 0});
    CHECK(ready.empty());
    CHECK(pending.size() == 1U);
    manta::async<&gate::open>(g).get();
  });
}

TEST_CASE("a failed task counts as done and wait itself does not throw") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<fail>(1)};
    auto [ready, pending] = manta::wait(fs, {.count = 1});
    REQUIRE(ready.size() == 1U);
    CHECK_THROWS_AS(ready.front().get(), manta::task_failed);
    manta::async<&gate::open>(g).get();
    CHECK(pending.front().get() == 0);
  });
}

TEST_CASE("a future that stands in the range twice counts twice") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto f = manta::async<held<int>>(g, 7);
    const std::vector<manta::future<int>> twice{f, f, manta::async<held<int>>(g, 8)};
    CHECK(manta::wait(twice, {.count = 2, .timeout = 1ms}).ready.empty());
    manta::async<&gate::open>(g).get();
    CHECK(manta::wait(twice, {.count = 3}).ready.size() == 3U);
  });
}

TEST_CASE("wait works inside a task") {
  in_world([] { CHECK(manta::async<wait_in_task>(manta::spawn<gate>()).get() == std::vector<int>{1, 2, 0}); });
}

TEST_CASE("results taken one by one by wait are all there in the end") {
  in_world([] {
    std::vector<manta::future<int>> pending;
    for (int i = 0; i < 300; ++i) pending.push_back(manta::async<busy_for>(i % 50));
    long sum = 0;
    std::size_t rounds = 0;
    while (!pending.empty()) {
      auto [ready, rest] = manta::wait(pending, {.count = 1});
      REQUIRE(!ready.empty());
      for (const auto& f : ready) sum += f.get();
      pending = rest;
      ++rounds;
    }
    CHECK(sum == 300 / 50 * (49 * 50 / 2));
    CHECK(rounds <= 300U);
  });
}

TEST_CASE("as_completed gives each result as it ends, late ones last") {
  in_world([] {
    auto g = manta::spawn<gate>();
    std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<same>(1), manta::async<same>(2)};
    std::vector<int> order;
    for (auto& f : manta::as_completed(fs)) {
      CHECK(f.ready());
      order.push_back(f.get());
      if (order.size() == 2) manta::async<&gate::open>(g).get();
    }
    REQUIRE(order.size() == 3U);
    CHECK(order.back() == 0);
    CHECK(std::set<int>(order.begin(), order.end()) == std::set<int>{0, 1, 2});
  });
}

TEST_CASE("as_completed yields failed futures too, and each exactly once") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 1000; ++i) fs.push_back(i % 10 == 0 ? manta::async<fail>(i) : manta::async<same>(i));
    std::set<int> seen;
    int failed = 0;
    for (auto& f : manta::as_completed(fs)) {
      try {
        seen.insert(f.get());
      } catch (const manta::task_failed&) {
        ++failed;
      }
    }
    CHECK(failed == 100);
    CHECK(seen.size() == 900U);
    std::vector<manta::future<int>> none;
    for (auto& f : manta::as_completed(none))
      CHECK_MESSAGE(false, "an empty range has no results, but gave " << f.get());
  });
}

TEST_CASE("as_completed may be left early") {
  in_world([] {
    auto g = manta::spawn<gate>();
    std::vector<manta::future<int>> fs{manta::async<held<int>>(g, 0), manta::async<same>(1)};
    for (auto& f : manta::as_completed(fs)) {
      CHECK(f.get() == 1);
      break;
    }
    manta::async<&gate::open>(g).get();
    CHECK(fs.front().get() == 0);
  });
}
