// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Queues between tasks on all ranks: order, bounds, waiting, closing, and that
// no value is lost or doubled.
#include <doctest/doctest.h>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <set>

#include "support/world.hpp"

using manta::testing::block;
using manta::testing::busy;
using manta::testing::contains;
using manta::testing::count_to;
using manta::testing::in_world;
using manta::testing::poll_until;
using manta::testing::thrown;
using namespace std::chrono_literals;

namespace {

int same(int x) { return x; }

int push_range(manta::queue<int> q, int from, int to) {
  for (int i = from; i < to; ++i) q.push(i);
  return to - from;
}
std::vector<int> pop_all(manta::queue<int> q) {
  std::vector<int> values;
  while (const auto x = q.next()) values.push_back(*x);
  return values;
}
int pop_one(manta::queue<int> q) { return q.pop(); }
void push_one(manta::queue<int> q, int x) { q.push(x); }
int pop_within(manta::queue<int> q, int microseconds) { return q.pop_for(std::chrono::microseconds(microseconds)); }
void push_within(manta::queue<int> q, int x, int microseconds) {
  q.push_for(x, std::chrono::microseconds(microseconds));
}
void push_late(manta::queue<int> q, int x, int microseconds) {
  busy(std::chrono::microseconds(microseconds));
  q.push(x);
}

}  // namespace

TEST_CASE("values come out in the order in which they were pushed") {
  in_world([] {
    manta::queue<int> q(100);
    CHECK(q.valid());
    for (int i = 0; i < 50; ++i) q.push(i);
    CHECK(q.size() == 50U);
    for (int i = 0; i < 50; ++i) CHECK(q.pop() == i);
    CHECK(q.size() == 0U);
    const auto pushed = manta::async<push_range>(q, 0, 500);  // more than fit
    for (int i = 0; i < 500; ++i) CHECK(q.pop() == i);
    CHECK(pushed.get() == 500);
  });
}

TEST_CASE("a full queue makes pushes wait, try_push says so, and push_for gives up") {
  in_world([] {
    manta::queue<int> q(2);
    CHECK(q.try_push(0));
    CHECK(q.try_push(1));
    CHECK(!q.try_push(2));
    CHECK(contains(thrown<manta::queue_full>([&] { q.push_for(2, 2ms); }), "still full"));
    CHECK(contains(thrown<manta::queue_full>([&] { q.push_for(2, 0ms); }), "still full"));
    CHECK(q.size() == 2U);
    const auto waiting = manta::async<push_one>(q, 2);
    CHECK(!waiting.wait_for(5ms));
    CHECK(q.size() == 2U);
    CHECK(q.pop() == 0);
    waiting.get();
    CHECK(q.pop() == 1);
    CHECK(q.pop() == 2);
    const auto in_time = manta::async<push_within>(q, 3, 60'000'000);
    CHECK(q.pop() == 3);
    in_time.get();
  });
}

TEST_CASE("an empty queue makes pops wait, try_pop says so, and pop_for gives up") {
  in_world([] {
    manta::queue<int> q(2);
    CHECK(!q.try_pop());
    CHECK(contains(thrown<manta::queue_empty>([&] { q.pop_for(2ms); }), "still empty"));
    CHECK(contains(thrown<manta::queue_empty>([&] { q.pop_for(0ms); }), "still empty"));
    const auto waiting = manta::async<pop_one>(q);
    CHECK(!waiting.wait_for(5ms));
    q.push(7);
    CHECK(waiting.get() == 7);
    const auto in_time = manta::async<pop_within>(q, 60'000'000);
    q.push(8);
    CHECK(in_time.get() == 8);
    q.push(9);
    CHECK(q.try_pop() == 9);
    CHECK(q.size() == 0U);  // those who gave up got nothing
  });
}

TEST_CASE("those who wait are served in the order in which they came") {
  in_world([] {
    manta::queue<int> q(1);
    std::vector<manta::future<int>> poppers;
    for (int i = 0; i < 5; ++i) {
      poppers.push_back(manta::async<pop_one>(q));
      CHECK(!poppers.back().wait_for(3ms));
    }
    for (int i = 0; i < 5; ++i) q.push(i);
    std::vector<int> values = manta::get(poppers);
    std::sort(values.begin(), values.end());
    CHECK(values == count_to(5));
  });
}

TEST_CASE("a closed queue takes nothing and gives what it has") {
  in_world([] {
    manta::queue<int> q(3);
    q.push(1);
    q.push(2);
    CHECK(!q.closed());
    q.close();
    q.close();
    CHECK(q.closed());
    CHECK_THROWS_AS(q.push(3), manta::queue_closed);
    CHECK_THROWS_AS(q.try_push(3), manta::queue_closed);
    CHECK_THROWS_AS(q.push_for(3, 1s), manta::queue_closed);
    CHECK(q.pop() == 1);
    CHECK(q.try_pop() == 2);
    CHECK_THROWS_AS(q.pop(), manta::queue_closed);
    CHECK_THROWS_AS(q.try_pop(), manta::queue_closed);
    CHECK_THROWS_AS(q.pop_for(1s), manta::queue_closed);
    CHECK(!q.next());
  });
}

TEST_CASE("closing wakes those who wait") {
  in_world([] {
    manta::queue<int> empty(1);
    const auto popper = manta::async<pop_one>(empty);
    const auto reader = manta::async<pop_all>(empty);
    CHECK(!popper.wait_for(3ms));
    empty.close();
    CHECK_THROWS_AS(popper.get(), manta::queue_closed);
    CHECK(reader.get().empty());
    manta::queue<int> full(1);
    full.push(1);
    const auto pusher = manta::async<push_one>(full, 2);
    CHECK(!pusher.wait_for(3ms));
    full.close();
    CHECK_THROWS_AS(pusher.get(), manta::queue_closed);
    CHECK(full.pop() == 1);
    CHECK(!full.next());
  });
}

TEST_CASE("the errors arrive as themselves from other ranks") {
  in_world([] {
    manta::queue<int> q(1);
    for (const int rank : manta::testing::executors()) {
      CHECK_THROWS_AS(manta::async<pop_within>({.rank = rank}, q, 100).get(), manta::queue_empty);
    }
    q.push(1);
    for (const int rank : manta::testing::executors()) {
      const auto f = manta::async<push_within>({.rank = rank}, q, 2, 100);
      CHECK(contains(thrown<manta::queue_full>([&] { f.get(); }), "still full"));
      CHECK_THROWS_AS(
          manta::async<same>(
              manta::async(
                  [](manta::queue<int> each) { return each.try_push(1) ? 1 : throw manta::queue_full("none"); }, q))
              .get(),
          manta::queue_full);
    }
    q.close();
    for (const int rank : manta::testing::executors()) {
      CHECK_THROWS_AS(manta::async<push_one>({.rank = rank}, q, 2).get(), manta::queue_closed);
    }
  });
}

TEST_CASE("many producers and consumers lose nothing and double nothing") {
  in_world([] {
    for (const std::size_t capacity : {1U, 3U, 1000U}) {
      manta::queue<int> q(capacity);
      std::vector<manta::future<int>> producers;
      std::vector<manta::future<std::vector<int>>> consumers;
      for (int c = 0; c < 5; ++c) consumers.push_back(manta::async<pop_all>(q));
      for (int p = 0; p < 6; ++p) producers.push_back(manta::async<push_range>(q, 100 * p, 100 * p + 100));
      manta::get(producers);
      q.close();
      std::vector<int> got;
      for (const auto& values : manta::get(consumers)) {
        std::vector<int> last(6, -1);
        for (const int x : values) {
          CHECK(last[static_cast<std::size_t>(x / 100)] < x);  // each producer's in its order
          last[static_cast<std::size_t>(x / 100)] = x;
        }
        got.insert(got.end(), values.begin(), values.end());
      }
      std::sort(got.begin(), got.end());
      CHECK(got == count_to(600));
    }
  });
}

TEST_CASE("who gives up at the moment when a value comes either has it or leaves it") {
  const auto seed = manta::testing::seed("queue");
  in_world([seed] {
    manta::queue<int> q(1);
    std::uint64_t random = seed;
    int got = 0;
    int given_up = 0;
    for (int i = 0; i < 60; ++i) {
      random = manta::testing::mix(random);
      const auto popper = manta::async<pop_within>(q, static_cast<int>(random % 300));
      const auto pusher = manta::async<push_late>(q, i, static_cast<int>(random / 1000 % 300));
      int value = -1;
      try {
        value = popper.get();
        ++got;
      } catch (const manta::queue_empty&) {
        ++given_up;
        value = q.pop();
      }
      CHECK(value == i);
      pusher.get();
    }
    CHECK(got + given_up == 60);
    CHECK(q.size() == 0U);
  });
}

TEST_CASE("values of any size and kind: text, arrays, move-only, futures, handles") {
  in_world([] {
    manta::queue<std::string> texts(4);
    for (const std::size_t length : {0U, 10U, 1000U, 100'000U}) texts.push(std::string(length, 'x'));
    for (const std::size_t length : {0U, 10U, 1000U, 100'000U}) CHECK(texts.pop() == std::string(length, 'x'));
    manta::queue<std::vector<double>> arrays(2);
    const auto filler = manta::async(
        [](manta::queue<std::vector<double>> q) {
          for (int i = 0; i < 10; ++i) q.push(std::vector<double>(50'000, i));
        },
        arrays);
    for (int i = 0; i < 10; ++i) CHECK(arrays.pop() == std::vector<double>(50'000, i));
    filler.get();
    manta::queue<block> blocks(2);
    const auto builder = manta::async(
        [](manta::queue<block> q) {
          for (int i = 0; i < 6; ++i) q.push(block(i));
        },
        blocks);
    for (int i = 0; i < 6; ++i) {
      const block b = blocks.pop();
      CHECK(*b.mark == i);
      CHECK(b.numbers == std::vector<double>(50'000, i));
    }
    builder.get();
    blocks.push(block(7));
    CHECK(*manta::async([](manta::queue<block> q) { return std::move(q.pop().mark); }, blocks).get() == 7);
    manta::queue<manta::future<int>> futures(10);
    for (int i = 0; i < 10; ++i) futures.push(manta::async<same>(i));
    CHECK(manta::async(
              [](manta::queue<manta::future<int>> q) {
                int sum = 0;
                for (int i = 0; i < 10; ++i) sum += q.pop().get();
                return sum;
              },
              futures)
              .get() == 45);
    manta::queue<manta::queue<int>> queues(1);
    manta::queue<int> inner(1);
    queues.push(inner);
    inner.push(3);
    CHECK(queues.pop().pop() == 3);
    CHECK(inner == inner);
  });
}

TEST_CASE("a pop that nobody can serve is a deadlock, and its place in the list is given up") {
  in_world([] {
    manta::queue<int> q(1);
    const std::string text = thrown<manta::deadlock>([&] { q.pop(); });
    CAPTURE(text);
    CHECK(contains(text, "pop from an empty queue, which nobody has closed"));
    q.push(1);
    CHECK(contains(thrown<manta::deadlock>([&] { q.push(2); }), "push to a full queue"));
    CHECK(q.size() == 1U);
    CHECK(q.pop() == 1);
    CHECK(q.size() == 0U);
    const auto a = manta::async<pop_one>(q);
    const auto b = manta::async<pop_one>(q);
    CHECK(contains(thrown<manta::deadlock>([&] { a.get(); }), "empty queue, which nobody has closed"));
    CHECK_THROWS_AS(b.get(), manta::deadlock);
    q.push(5);
    CHECK(q.pop() == 5);
  });
}

TEST_CASE("a queue without handles ends, with what it holds") {
  in_world([] {
    {
      manta::queue<std::string> q(10);
      q.push(std::string(5000, 'x'));
      q.push("short");
    }
    manta::queue<int> never_used(1);
    CHECK(manta::async<same>(1).get() == 1);
  });
}

TEST_CASE("an empty handle and a capacity of 0 are errors") {
  in_world([] {
    manta::queue<int> nothing;
    CHECK(!nothing.valid());
    CHECK(contains(thrown<manta::error>([&] { nothing.push(1); }), "make one with its capacity"));
    CHECK(contains(thrown<manta::error>([] { manta::queue<int> q(0); }), "capacity"));
    const int place = manta::testing::executor(1);
    manta::queue<int> q(1, {.name = "work", .rank = place});
    q.push(1);
    CHECK(q.pop() == 1);
  });
}
