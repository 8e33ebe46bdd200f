// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/waiters.hpp, exec/state/run_phase.hpp: what ends waits beside the ends of
// nodes, how long a rank sleeps for them, and what a rank knows of its run.
#include <doctest/doctest.h>

#include <unistd.h>

#include <string>

#include "../../support/loopback_network.hpp"
#include "manta/error.hpp"
#include "manta/exec/state/run_phase.hpp"
#include "manta/exec/state/waiters.hpp"

using namespace manta::exec;

namespace {

struct rank {
  block_world world{1};
  network net{{world, 0, 1}};
  turns next;
  pace time;
  waiters all{net, next, time, [](void*) {}, nullptr};
};

context* stack(int number) { return reinterpret_cast<context*>(std::uintptr_t{64} * static_cast<unsigned>(number)); }

/// A stack that was left while it waits.
struct parked : wait_record {
  explicit parked(int number, std::int64_t until = never) {
    remaining = 1;
    deadline = until;
    wait_record::parked = stack(number);
  }
};

}  // namespace

TEST_CASE("waits whose time is up go on in the order of their deadlines, each once") {
  rank r;
  parked late(1, 300), soon(2, 100), untimed(3), far(4, 1000);
  for (wait_record* w : {static_cast<wait_record*>(&late), static_cast<wait_record*>(&soon),
                         static_cast<wait_record*>(&untimed), static_cast<wait_record*>(&far)})
    r.all.add(*w);
  CHECK(r.all.any_timed());
  r.all.check_deadlines(300);
  r.all.check_deadlines(300);
  CHECK(r.next.next_stack(false) == stack(2));
  CHECK(r.next.next_stack(false) == stack(1));
  CHECK(r.next.next_stack(false) == nullptr);
}

TEST_CASE("a sleep is short where something is to happen at a time that is not known, and ends at the next deadline") {
  rank r;
  CHECK(r.all.longest_sleep(false) == 20'000'000);
  CHECK(r.all.longest_sleep(true) == 1'000'000);
  r.net.is_rung_by_all = false;
  CHECK(r.all.longest_sleep(false) == 5'000'000);
  parked w(1, 3'000'000);
  r.all.add(w);
  CHECK(r.all.longest_sleep(false) == 1'000'000);
  CHECK(r.all.sleep_until_deadline(false, 1'000'000) == 2'000'000);
  CHECK(r.all.sleep_until_deadline(true, 1'000'000) == 1'000'000);
  CHECK(r.all.sleep_until_deadline(false, 2'999'999) == 50'000);
  r.all.remove(w);
  CHECK_FALSE(r.all.any_timed());
}

TEST_CASE("a readable descriptor ends its wait, and no sleep begins") {
  rank r;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  parked w(1);
  w.descriptor = ends[0];
  r.all.add(w);
  CHECK_FALSE(r.all.check_descriptors());
  REQUIRE(::write(ends[1], "x", 1) == 1);
  r.all.sleep(1'000'000'000);
  CHECK(r.net.slept_ns == -1);
  CHECK(w.over());
  CHECK(r.next.next_stack(false) == stack(1));
  r.all.remove(w);
  r.all.sleep(7);
  CHECK(r.net.slept_ns == 7);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a task that is asked to stop ends the waits that look for that, and no others") {
  rank r;
  parked looks(1), other(2);
  looks.looks_for_stops = true;
  r.all.add(other);
  r.all.note_stop();
  CHECK_FALSE(r.all.has_news_of_stops());
  r.all.add(looks);
  r.all.note_stop();
  r.all.note_stop();
  CHECK(r.all.stops() == 3);
  CHECK(r.all.has_news_of_stops());
  r.all.check_stops();
  CHECK_FALSE(r.all.has_news_of_stops());
  CHECK(looks.over());
  CHECK_FALSE(other.over());
  CHECK(r.next.next_stack(false) == stack(1));
  CHECK(r.next.next_stack(false) == nullptr);
  r.all.remove(looks);
  r.all.note_stop();
  CHECK_FALSE(r.all.has_news_of_stops());
}

TEST_CASE("the report of a deadlock says whose method waits, where the actor has a name") {
  rank r;
  manta::graph::request actor;
  actor.name = "door";
  running_task method{1, manta::graph::no_index};
  method.actor = &actor;
  parked w(1);
  w.task = &method;
  r.all.add(w);
  CHECK(r.all.describe(0) == "[rank 0: 'the driver' of the actor 'door' waits for others] ");
}

TEST_CASE("a deadlock fails all waits but the last, which ends with the run") {
  rank r;
  running_task driver{1, manta::graph::no_index};
  waiters::last_wait end(r.all);
  end.record.task = &driver;
  end.record.parked = stack(9);
  r.all.add(end.record);
  parked w(1);
  w.task = &driver;
  r.all.add(w);
  CHECK(r.all.unfinished() == 1);
  CHECK(r.all.describe(3) == "[rank 3: 'the driver' waits for others] ");
  CHECK(r.all.describe_all() == "'the driver' waits for others");
  r.all.throw_if_deadlocked(w);
  r.all.fail_all("nothing goes on");
  CHECK_FALSE(end.record.over());
  CHECK(r.all.unfinished() == 0);
  CHECK(r.all.describe(3).empty());
  CHECK_THROWS_WITH_AS(r.all.throw_if_deadlocked(w), "nothing goes on", manta::deadlock);
  CHECK(r.next.next_stack(false) == stack(1));
  r.all.end_last();
  CHECK(end.record.over());
  CHECK(r.next.next_stack(false) == stack(9));
}

TEST_CASE("between last waits there is none to end") {
  rank r;
  r.all.end_last();
  {
    const waiters::last_wait end(r.all);
    CHECK(r.all.is_last_under_way());
  }
  CHECK_FALSE(r.all.is_last_under_way());
}

TEST_CASE("a run stops when it is told, and drops once") {
  run_phase p;
  CHECK(p.begin(false) == 1);
  CHECK_FALSE(p.is_stopping());
  p.stop_and_drop();
  CHECK(p.is_stopping());
  CHECK(p.has_to_drop());
  p.note_dropped();
  CHECK_FALSE(p.has_to_drop());
  CHECK(p.is_stopping());
  p.end_stop();
  CHECK_FALSE(p.is_stopping());
  CHECK(p.begin(true) == 2);
  CHECK(p.is_stopping());
  p.note_driver_end(100);
  CHECK(p.since_driver_end(130) == 30);
}

TEST_CASE("a rank is not at rest while user code runs in its handler's place") {
  run_phase p;
  p.set_resting(true);
  {
    const run_phase::busy user(p);
    CHECK_FALSE(p.is_resting());
  }
  CHECK(p.is_resting());
}

TEST_CASE("the outcome of a run is told as it was: a value, or the text of a failure") {
  run_phase p;
  const manta::wire::buffer failed = run_phase::message_of(run_phase::end::failed, "it broke", 8);
  p.note_outcome(failed.data(), failed.size());
  CHECK(p.get_outcome().how == run_phase::end::failed);
  CHECK(p.get_outcome().text() == "it broke");
  const manta::wire::buffer done = run_phase::message_of(run_phase::end::returned, "abc", 3);
  p.note_outcome(done.data(), done.size());
  CHECK(p.get_outcome().how == run_phase::end::returned);
  CHECK(p.get_outcome().bytes == 3);
}
