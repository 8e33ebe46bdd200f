// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/task_clock.hpp, exec/rank/work_list.hpp, exec/rank/waits.hpp: timers come due
// in order of time however they are started and stopped; work that leads to
// work is done in one loop; the list of waits counts those with a time limit.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "manta/exec/rank/waits.hpp"
#include "manta/exec/rank/work_list.hpp"
#include "manta/exec/state/task_clock.hpp"

using manta::exec::task_clock;
using manta::exec::wait_list;
using manta::exec::wait_record;
using manta::exec::work_list;

TEST_CASE("timers come due in order of time") {
  task_clock c;
  for (const std::int64_t ns : {30, 10, 20}) c.start({ns, 0, static_cast<std::uint32_t>(ns), 0});
  CHECK(c.running() == 3);
  task_clock::timer due{};
  CHECK_FALSE(c.take_due(9, due));
  CHECK(c.take_due(25, due));
  CHECK(due.index == 10);
  CHECK(c.take_due(25, due));
  CHECK(due.index == 20);
  CHECK_FALSE(c.take_due(25, due));
  c.note_over();
  c.note_over();
  CHECK(c.running() == 1);
  CHECK(c.all([](const task_clock::timer&) { return true; }).size() == 1);
}

TEST_CASE("random timers: what runs comes due, in order, and no entry of a stopped timer does harm") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("task_clock: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  task_clock c;
  std::map<std::uint64_t, std::int64_t> running;  // id -> when
  const auto is_running = [&](const task_clock::timer& t) {
    const auto at = running.find(t.id);
    return at != running.end() && at->second == t.ns;
  };
  std::int64_t now = 0;
  std::uint64_t next_id = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (draw() % 2 == 0) {
      const std::int64_t ns = now + static_cast<std::int64_t>(draw() % 1000);
      running[++next_id] = ns;
      c.start({ns, next_id, 0, 0});
    } else if (!running.empty() && draw() % 8 != 0) {
      auto which = running.lower_bound(draw() % next_id);
      if (which == running.end()) which = running.begin();
      running.erase(which);
      c.stop(is_running);
    } else {
      now += static_cast<std::int64_t>(draw() % 50);
      std::int64_t last = 0;
      for (task_clock::timer due{}; c.take_due(now, due);) {
        CHECK(due.ns >= last);
        last = due.ns;
        if (!is_running(due)) continue;
        running.erase(due.id);
        c.note_over();
      }
      for (const auto& [id, ns] : running) CHECK(ns > now);
    }
    REQUIRE(c.running() == running.size());
    if (i % 1000 == 0) CHECK(c.all(is_running).size() == running.size());
  }
}

TEST_CASE("work that leads to work is done in one loop") {
  work_list<int> list;
  std::vector<int> done;
  int depth = 0, deepest = 0;
  const auto work = [&](auto& self, int item) -> void {
    if (!list.add(item)) return;
    deepest = deepest > ++depth ? deepest : depth;
    for (int next = 0; list.take(next);) {
      done.push_back(next);
      if (next > 0) self(self, next - 1);
    }
    --depth;
  };
  work(work, 1000);
  CHECK(done.size() == 1001);
  CHECK(deepest == 1);
  work(work, 2);  // the list works again
  CHECK(done.size() == 1004);
}

TEST_CASE("the list of waits counts those with a time limit and those with a descriptor") {
  wait_list waits;
  wait_record plain, timed, readable;
  timed.deadline = 100;
  readable.deadline = 200;
  readable.descriptor = 0;
  for (wait_record* w : {&plain, &timed, &readable}) waits.add(*w);
  CHECK(waits.timed() == 2);
  CHECK(waits.with_descriptor() == 1);
  int count = 0;
  for (const wait_record* w : waits) count += w != nullptr;
  CHECK(count == 3);
  waits.remove(timed);
  CHECK(waits.timed() == 1);
  waits.remove(readable);
  CHECK(waits.with_descriptor() == 0);
  waits.remove(plain);
  CHECK(waits.empty());
}
