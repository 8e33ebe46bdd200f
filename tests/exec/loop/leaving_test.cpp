// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/departure.hpp, exec/loop/leaving.hpp, exec/state/late_tasks.hpp,
// exec/state/throttle.hpp: when and why a run has to end early, who is told, which
// tasks are not started then, and how long a submitter that runs ahead is held.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "manta/exec/state/departure.hpp"
#include "manta/exec/state/late_tasks.hpp"
#include "manta/exec/state/throttle.hpp"
#include "support/whole_rank.hpp"

using manta::exec::departure;
using manta::exec::late_tasks;
using manta::exec::throttle;
using manta::exec::wait_record;

namespace {

constexpr double ticks_per_s = 1000;

/// The letters under way, which all say that the run has to end: from whom to whom, and why.
std::vector<std::string> letters(whole_world& all) {
  std::vector<std::string> told;
  std::mt19937 random(1);
  while (all.letters().deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
    CHECK(m.kind == manta::exec::message::leave);
    const auto* const text = reinterpret_cast<const char*>(m.bytes.data()) + sizeof(manta::exec::index_message);
    const std::size_t length = m.bytes.size() - sizeof(manta::exec::index_message);
    told.push_back(std::to_string(from) + " to " + std::to_string(to) + ": " + std::string(text, length));
  })) {
  }
  return told;
}

}  // namespace

TEST_CASE("a rank that has a reason asks rank 0 for the end of the run, once, and goes on until rank 0 says so") {
  whole_world world(3);
  whole_rank& asks = world.look_at(1);
  CHECK_FALSE(asks.loops.leaving.is_due());
  asks.run.departure.set_end(900, 60, 1'000, 1, ticks_per_s);  // of the allocation: a matter of rank 0
  CHECK_FALSE(asks.loops.leaving.is_due());
  asks.run.departure.ask("enough");
  CHECK(asks.loops.leaving.is_due());
  asks.loops.leaving.announce();
  CHECK_FALSE(asks.loops.leaving.is_due());
  CHECK_FALSE(asks.run.phase.is_stopping());
  CHECK(letters(world) == std::vector<std::string>{"1 to 0: enough"});
  asks.loops.leaving.leave("rank 0 says so");
  CHECK(asks.run.departure.why() == "rank 0 says so");
  CHECK(asks.run.phase.is_stopping());
  CHECK(asks.run.phase.has_to_drop());
}

TEST_CASE("rank 0 has the run end on all ranks when it is asked, and when the time of the allocation is over") {
  for (const bool asked : {true, false}) {
    whole_world world(3);
    whole_rank& first = world.look_at(0);
    CHECK_FALSE(first.loops.leaving.is_due());
    if (asked) {
      first.run.departure.ask("enough");
    } else {
      first.run.departure.set_end(900, 60, 1'000, 1, ticks_per_s);
    }
    CHECK(first.loops.leaving.is_due());
    first.loops.leaving.announce();
    CHECK_FALSE(first.loops.leaving.is_due());
    CHECK(first.run.phase.is_stopping());
    CHECK(first.run.phase.has_to_drop());
    const std::vector<std::string> told = letters(world);
    REQUIRE(told.size() == 2);
    const std::string why = asked ? "enough" : first.run.departure.why();
    CHECK((told[0] == "0 to 1: " + why || told[1] == "0 to 1: " + why));
    CHECK((told[0] == "0 to 2: " + why || told[1] == "0 to 2: " + why));
  }
}

TEST_CASE("a run ends a margin before its allocation, and in a short one at nine tenths of what is left") {
  departure d;
  CHECK_FALSE(d.has_end());
  CHECK_FALSE(d.is_time(~std::uint64_t{0}));
  d.set_end(10'000, 60, 1'000, 500, ticks_per_s);  // 9000 s are left
  CHECK(d.has_end());
  CHECK(d.ticks_left(500) == 8'940'000);
  CHECK_FALSE(d.is_time(8'940'500));
  CHECK(d.is_time(8'940'501));
  CHECK(d.ticks_left(9'000'000) == 0);
  departure brief;
  brief.set_end(1'100, 60, 1'000, 0, ticks_per_s);
  CHECK(brief.ticks_left(0) == 90'000);
  departure over;
  over.set_end(900, 60, 1'000, 7, ticks_per_s);
  CHECK(over.is_time(8));
}

TEST_CASE("the reason is the signal, or what was asked for, or the end of the allocation") {
  departure d;
  d.set_end(10'000, 60, 1'000, 500, ticks_per_s);
  CHECK(d.reason(nullptr).find("the allocation ends at ") == 0);
  CHECK_FALSE(d.is_asked());
  d.ask("another rank says so");
  CHECK(d.is_asked());
  CHECK(d.reason(nullptr) == "another rank says so");
  CHECK(d.reason("SIGTERM") == "SIGTERM has come");
  CHECK_FALSE(d.is_leaving());
  d.leave(d.reason("SIGTERM"));
  CHECK(d.is_leaving());
  CHECK(d.why() == "SIGTERM has come");
}

TEST_CASE("a task that takes longer than what is left is late, unless it is short or nobody knows how long it takes") {
  constexpr double second_ns = 1e9;
  manta::graph::node_table nodes;
  late_tasks late(nodes);
  manta::graph::node& n = nodes.make();
  n.function = 2;
  CHECK_FALSE(late.is_too_long(n, 0));
  late.learn(2, 3'000'000'000);
  CHECK(late.is_too_long(n, 2 * second_ns));
  CHECK_FALSE(late.is_too_long(n, 4 * second_ns));
  departure end;
  end.set_end(10'000, 60, 1'000, 500, ticks_per_s);
  CHECK(late.explain(n, -1, 2 * second_ns, end).find("it takes about 3 s, and in 2 s the run has to end") !=
        std::string::npos);
  CHECK(late.explain(n, 5 * second_ns, 2 * second_ns, end).find("about 5 s") != std::string::npos);
  manta::graph::node& brief = nodes.make();
  brief.function = 1;
  late.learn(1, 5'000'000);
  CHECK_FALSE(late.is_too_long(brief, 0));
}

TEST_CASE("late tasks are kept in their order until they are removed or taken") {
  manta::graph::node_table nodes;
  late_tasks late(nodes);
  manta::graph::node &a = nodes.make(), &b = nodes.make(), &c = nodes.make();
  for (manta::graph::node* const each : {&a, &b, &c}) late.set_aside(*each);
  CHECK(late.count() == 3);
  CHECK(late.has(b));
  late.remove(b);
  CHECK_FALSE(late.has(b));
  CHECK(&late.take_first() == &a);
  CHECK(&late.take_first() == &c);
  CHECK(late.empty());
}

TEST_CASE("a submitter is ahead beyond the limit, and has room again when an eighth of it has ended") {
  throttle t(80);
  CHECK_FALSE(t.is_ahead(80));
  CHECK(t.is_ahead(81));
  CHECK_FALSE(t.has_room(71));
  CHECK(t.has_room(70));
}

TEST_CASE("a submitter that waits in vain may have twice as many tasks, until few are left or a run begins") {
  throttle t(80);
  t.note_patience({100, 0}, {99, 0}, true);  // their number falls
  CHECK(t.is_ahead(81));
  t.note_patience({100, 0}, {100, 0}, false);  // it was short of memory alone
  CHECK(t.is_ahead(81));
  t.note_patience({100, 0}, {100, 0}, true);
  CHECK_FALSE(t.is_ahead(200));
  CHECK(t.is_ahead(201));
  t.relax(40);
  CHECK(t.is_ahead(201));
  CHECK_FALSE(t.is_ahead(200));
  t.relax(39);
  CHECK(t.is_ahead(81));
  t.note_patience({100, 0}, {100, 0}, true);
  t.begin();
  CHECK(t.is_ahead(81));
}

TEST_CASE("where memory is short a submitter waits for tasks to end, unless it has done so in vain") {
  throttle t(80);
  CHECK_FALSE(t.may_get_room(false, 5));
  CHECK_FALSE(t.may_get_room(true, 0));  // nothing can end
  CHECK(t.may_get_room(true, 5));
  t.note_patience({5, 1000}, {5, 999}, false);
  CHECK(t.may_get_room(true, 5));
  t.note_patience({5, 1000}, {5, 1000}, false);
  CHECK_FALSE(t.may_get_room(true, 5));
  CHECK_FALSE(t.may_get_room(false, 5));  // there was memory meanwhile
  CHECK(t.may_get_room(true, 5));
}

TEST_CASE("few stacks are held at once") {
  throttle t(80);
  wait_record waits[throttle::most_stacks];
  CHECK_FALSE(t.holds());
  for (wait_record& w : waits) {
    CHECK(t.may_hold());
    t.hold(w);
  }
  CHECK_FALSE(t.may_hold());
  CHECK(t.held().size() == throttle::most_stacks);
  t.release(waits[3]);
  CHECK(t.may_hold());
  for (wait_record& w : waits) t.release(w);
  CHECK_FALSE(t.holds());
}
