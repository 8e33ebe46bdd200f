// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/turns.hpp, exec/state/silence.hpp: who has its turn, that nobody waits
// for ever behind those that go first, and what an idle rank does.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>

#include "manta/exec/rank/stack.hpp"
#include "manta/exec/state/silence.hpp"
#include "manta/exec/state/turns.hpp"

using manta::exec::context;
using manta::exec::silence;
using manta::exec::turns;
using step = silence::step;

TEST_CASE("stacks whose wait is over go on in turn, before those that made way") {
  turns t;
  context a, b, c;
  CHECK_FALSE(t.stacks_can_go_on());
  CHECK(t.next_stack(false) == nullptr);
  t.make_way(&c, 0);
  t.add(&a);
  t.add(&b);
  CHECK(t.stacks_can_go_on());
  CHECK(t.next_stack(true) == &a);
  CHECK(t.next_stack(true) == &b);
  CHECK(t.next_stack(true) == &c);
  CHECK_FALSE(t.stacks_can_go_on());
}

TEST_CASE("a stack that made way waits for the calls that were here, and for no later ones") {
  turns t;
  context a;
  t.make_way(&a, 2);
  CHECK(t.next_stack(true) == nullptr);
  CHECK(t.begin_call(2, true));
  CHECK(t.next_stack(true) == nullptr);
  CHECK(t.begin_call(3, true));  // more have come
  CHECK(t.next_stack(true) == &a);
  t.make_way(&a, 2);
  CHECK(t.next_stack(false) == &a);  // the calls have gone elsewhere
}

TEST_CASE("calls that are here go before the next task, and later ones after it") {
  turns t;
  CHECK_FALSE(t.begin_call(0, true));
  t.begin_task();
  CHECK(t.begin_call(2, true));
  CHECK(t.begin_call(1, true));
  CHECK_FALSE(t.begin_call(1, true));  // it came later
  CHECK(t.begin_call(1, false));       // no task waits
  t.begin_task();
  CHECK(t.begin_call(1, true));
}

TEST_CASE("one task of eight is the one that has waited longest") {
  turns t;
  for (int i = 1; i <= 32; ++i) CHECK(t.begin_task() == (i % 8 == 0));
}

TEST_CASE("of eight turns that stacks have in a row, one is kept for a call and one for the oldest work") {
  turns t;
  context a;
  int for_calls = 0, for_oldest = 0;
  for (int i = 0; i < 32; ++i) {
    if (t.is_kept()) ++(t.is_of_oldest() ? for_oldest : for_calls);
    t.add(&a);
    CHECK(t.next_stack(false) == &a);
  }
  CHECK(for_calls == 4);
  CHECK(for_oldest == 3);
  t.begin_oldest();
  CHECK_FALSE(t.is_kept());
}

TEST_CASE("when it is the oldest work's turn, a stack that made way goes before those whose wait is over") {
  turns t;
  context a, way;
  for (int i = 0; i < 8; ++i) {
    t.add(&a);
    t.next_stack(false);
  }
  REQUIRE(t.is_of_oldest());
  t.make_way(&way, 0);
  t.add(&a);
  CHECK(t.next_stack(false) == &way);
}

TEST_CASE("a stack that is about to make way lets others go first without a turn in a row") {
  turns t;
  context a, b;
  CHECK(t.next_stack_first(false) == nullptr);
  t.add(&a);
  t.make_way(&b, 1);
  CHECK(t.next_stack_first(true) == &a);
  CHECK(t.next_stack_first(true) == nullptr);  // the call goes first
  CHECK(t.next_stack_first(false) == &b);
  CHECK_FALSE(t.is_kept());
}

TEST_CASE("random turns: each stack goes on, and tasks begin however many stacks and calls there are") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("turns: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  turns t;
  context stacks[5];
  std::uint64_t calls = 0, tasks = 0;
  int since_task = 0, since_call = 0, went_on = 0;
  for (context& each : stacks) t.add(&each);
  for (int i = 0; i < 20'000; ++i) {
    calls += draw() % 3 == 0;
    context* next = nullptr;
    const bool kept = t.is_kept();
    bool is_task = false, is_call = false;
    if (kept && !t.is_of_oldest()) is_call = t.begin_call(calls, true);
    if (kept && t.is_of_oldest() && !t.has_made_way()) {
      t.begin_oldest();
      is_task = true;
    }
    if (!is_call && !is_task) next = t.next_stack(calls != 0);
    if (next != nullptr) {
      ++went_on;
      is_task = draw() % 8 == 0;  // the stack has run a task that it waits for, and makes way; else it only polls
      is_task ? t.make_way(next, calls) : t.add(next);
    } else if (!is_call && !is_task) {
      is_call = t.begin_call(calls, true);
      if (!is_call) {
        t.begin_task();
        is_task = true;
      }
    }
    calls -= is_call;
    tasks += is_task;
    since_task = is_task ? 0 : since_task + 1;
    since_call = is_call || calls == 0 ? 0 : since_call + 1;
    REQUIRE(since_task < 2'000);
    REQUIRE(since_call < 2'000);
  }
  CHECK(tasks > 100);
  CHECK(went_on > 5'000);
}

TEST_CASE("a silent rank polls, looks around now and then, and is over with spinning after its spins") {
  silence s;
  int looks = 0;
  for (int i = 0; i < 1000; ++i) looks += s.count_turn(1000);
  CHECK(looks == 32);  // of a thousand
  CHECK_FALSE(s.is_longer_than(1000));
  CHECK(s.count_turn(1000));
  CHECK(s.is_longer_than(1000));
  CHECK(s.count_turn(1000));
  s.end();
  CHECK(s.turns() == 0);
}

TEST_CASE("it yields, then sleeps, and sleeps longer the longer it has been silent") {
  constexpr std::int64_t start = 1'000'000'000;
  const auto longest = [] { return std::int64_t{5'000'000}; };
  silence s;
  s.count_turn(0);
  CHECK(s.next_step(0, start, false) == step::yield);
  s.count_turn(0);
  CHECK(s.next_step(0, start + silence::until_sleep_ns - 1, false) == step::yield);
  CHECK(s.next_step(0, start + silence::until_sleep_ns, true) == step::yield);  // only polling carries a transfer on
  CHECK(s.next_step(0, start + silence::until_sleep_ns, false) == step::sleep);
  CHECK(s.sleep_ns(start + 3'000'000, false, false, longest) == silence::short_sleep_ns);
  CHECK(s.sleep_ns(start + 20'000'000, false, false, longest) == 2'000'000);
  CHECK(s.sleep_ns(start + 20'000'000, true, false, longest) == silence::short_sleep_ns);
  CHECK(s.sleep_ns(start + 900'000'000, false, false, longest) == 5'000'000);
}

TEST_CASE("where every message ends the sleep, a silence may double with each") {
  constexpr std::int64_t start = 1'000'000'000;
  const auto longest = [] { return std::int64_t{5'000'000}; };
  silence s;
  s.count_turn(0);
  s.next_step(0, start, false);
  CHECK(s.sleep_ns(start, false, true, longest) == silence::short_sleep_ns);
  CHECK(s.sleep_ns(start + 300'000, false, true, longest) == 300'000);
  CHECK(s.sleep_ns(start + 300'000, true, true, longest) == silence::short_sleep_ns);
  CHECK(s.sleep_ns(start + 20'000'000, false, true, longest) == 5'000'000);
}

TEST_CASE("where others compute it sleeps instead of yielding, after a short while") {
  constexpr std::int64_t start = 1'000'000'000;
  silence s;
  s.count_turn(0);
  CHECK(s.next_step(0, start, false) == step::yield);
  s.note_yield(start, start + silence::others_compute_ns, false);  // short enough
  s.note_yield(start, start + silence::ranks_compute_ns, true);
  CHECK(s.next_step(0, start + 300'000, false) == step::yield);
  SUBCASE("a process with a slice of its own") { s.note_yield(start, start + 300'000, false); }
  SUBCASE("a rank, with the shortest slice") { s.note_yield(start, start + 100'000, true); }
  s.end();
  s.count_turn(0);
  const std::int64_t later = start + 400'000;
  CHECK(s.next_step(0, later, false) == step::spin);
  s.count_turn(0);
  CHECK(s.next_step(0, later + silence::until_woken_ns, false) == step::sleep);
  CHECK(s.next_step(0, later + silence::crowded_ns, false) == step::sleep);
  s.end();
  s.count_turn(0);
  CHECK(s.next_step(0, later + silence::crowded_ns, false) == step::yield);  // not crowded any more
}
