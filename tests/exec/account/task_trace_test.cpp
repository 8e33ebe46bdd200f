// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank keeps for a trace stays within its bounds, and no task is lost.
#include "manta/exec/account/task_trace.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "manta/base/clock.hpp"

using manta::exec::running_task;
using manta::exec::task_trace;

namespace {

std::uint64_t tasks_in(task_trace& trace) {
  std::uint64_t sum = 0;
  for (const task_trace::record& r : trace.records()) sum += r.tasks();
  return sum;
}
std::uint64_t ticks(double ns) { return static_cast<std::uint64_t>(ns / manta::base::nanoseconds_per_tick()); }

}  // namespace

TEST_CASE("a trace that nobody wants notes nothing") {
  task_trace trace;
  trace.begin_run();
  CHECK(!trace.is_on());
}

TEST_CASE("a million tasks fit: short ones are merged, long ones stay, all are counted") {
  task_trace trace;
  trace.enable();
  trace.begin_run();
  std::uint64_t now = 1'000'000;
  for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
    const running_task task(i, 1);
    const std::uint64_t length = i % 100'000 == 0 ? ticks(1e6) : ticks(2000);
    trace.note_run(task, now, now + length);
    trace.note_end(task, now + length);
    now += length + ticks(100);
  }
  CHECK(trace.records().size() <= task_trace::most_records);
  CHECK(trace.records().size() >= task_trace::most_records / 4);
  CHECK(tasks_in(trace) == 1'000'000);
  CHECK(trace.merged_below() > ticks(2000));
  CHECK(trace.merged_below() < ticks(200'000));
  const auto is_long = [](const auto& r) { return r.kind == task_trace::record::task && r.id % 100'000 == 0; };
  CHECK(std::ranges::count_if(trace.records(), is_long) == 10);
  CHECK(std::ranges::is_sorted(trace.records(), {}, &task_trace::record::begin));
}

TEST_CASE("a long run is no coarser than its length asks for, with waits among its tasks") {
  task_trace trace;
  trace.enable();
  trace.begin_run();
  std::uint64_t now = 1'000'000;
  const std::uint64_t length = ticks(2000), wait = ticks(700);
  for (std::uint64_t i = 1; i <= 8'000'000; ++i) {
    const running_task task(i, 1);
    trace.note_run(task, now, now + length);
    trace.note_end(task, now + length);
    now += length;
    if (i % 4 == 0) trace.note_state(6, now, now + wait);
    now += wait;
  }
  CHECK(trace.records().size() <= task_trace::most_records);
  CHECK(trace.records().size() >= task_trace::most_records / 8);
  CHECK(tasks_in(trace) == 8'000'000);
  CHECK(trace.merged_below() < ticks(2'000'000));  // 22 s, and records for a quarter of a millisecond each
}

TEST_CASE("stretches of a task follow each other, and it counts once") {
  task_trace trace;
  trace.enable();
  trace.begin_run();
  const running_task waits(1, 1), other(2, 1);
  trace.note_run(waits, 10, 20);
  trace.note_run(waits, 20, 25);  // the same stretch: somebody has looked
  trace.note_run(other, 30, 40);
  trace.note_end(other, 40);
  trace.note_run(waits, 40, 50);
  trace.note_end(waits, 50);
  REQUIRE(trace.records().size() == 3);
  CHECK(trace.records()[0].end() == 25);
  CHECK(tasks_in(trace) == 2);
}

TEST_CASE("arrows stay within their bound: a task has all of its arrows or none") {
  task_trace trace;
  trace.enable();
  trace.begin_run();
  manta::graph::node_table nodes;
  manta::graph::node& input = nodes.make();
  manta::graph::node& sum = nodes.make();
  input.function = sum.function = 1;
  manta::graph::node* const inputs[] = {&input, &input};
  for (std::uint64_t i = 1; i <= 200'000; ++i) {
    trace.note_maker(input, 2 * i, nullptr, 0);
    trace.note_maker(sum, manta::base::mix(i), inputs, 2);
  }
  CHECK(trace.arrows().size() <= task_trace::most_arrows);
  CHECK(trace.arrows().size() % 2 == 0);
  CHECK(trace.arrow_rounds() > 0);
  for (const auto& arrow : trace.arrows()) CHECK(manta::report::stays(arrow, trace.arrow_rounds()));
}

TEST_CASE("names of tasks that were merged give their room to others") {
  task_trace trace;
  trace.enable();
  trace.begin_run();
  manta::graph::request request;
  std::uint64_t now = 1'000'000;
  for (std::uint64_t i = 1; i <= 400'000; ++i) {
    request.name = "task number " + std::to_string(i);
    const running_task task(i, 1, 0, &request);
    const std::uint64_t length = i % 40'000 == 0 ? ticks(1e6) : ticks(1000);
    trace.note_run(task, now, now + length);
    trace.note_end(task, now + length);
    now += length;
  }
  std::size_t bytes = 0;
  for (const std::string& name : trace.names()) bytes += name.size();
  CHECK(bytes <= task_trace::most_name_bytes);
  for (const task_trace::record& r : trace.records())
    CHECK((r.kind != task_trace::record::task || r.count <= trace.names().size()));
}
