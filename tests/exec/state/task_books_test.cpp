// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/task/: the executor's books of tasks with inputs, rank 0's list of tasks
// that wait for room ahead of their inputs, and its table of where tasks are.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manta/exec/state/staging.hpp"
#include "manta/exec/state/task_places.hpp"
#include "manta/exec/state/waiting_ahead.hpp"

using manta::exec::staging;
using manta::exec::task_place;
using manta::exec::task_places;
using manta::exec::waiting_ahead;
using manta::graph::no_index;
using manta::graph::task;

namespace graph = manta::graph;

namespace {

struct executor {
  graph::task_pool records;
  std::vector<task*> made;
  staging books;

  task* make(std::uint64_t id, bool by_scheduler = true, bool ahead = false) {
    task* const t = records.make(0, 0);
    t->id = id;
    t->slot = no_index;
    t->by_scheduler = by_scheduler;
    t->ahead = ahead;
    made.push_back(t);
    return t;
  }
  ~executor() {
    for (task* const t : made) records.free(t);
  }
};

const auto nobody_is = [](const task&) { return false; };

struct node_at : graph::node {
  explicit node_at(std::uint32_t place) { index = place; }
};

}  // namespace

TEST_CASE("tasks that wait for their inputs are found by their ids and counted if rank 0 sent them") {
  executor e;
  task* const from_zero = e.make(1);
  task* const own = e.make(2, false);
  task* const call = e.make(3, false);
  call->slot = 4;
  for (task* const t : {from_zero, own, call}) e.books.add_waiting(t);
  CHECK(e.books.waiting() == 1);
  CHECK(e.books.find_waiting(1, nobody_is) == from_zero);
  CHECK(e.books.find_waiting(2, nobody_is) == own);
  CHECK(e.books.find_waiting(3, nobody_is) == nullptr);  // a call stands in its actor's mailbox
  for (task* const t : {from_zero, own, call}) e.books.remove_waiting(t);
  CHECK(e.books.waiting() == 0);
  CHECK(e.books.find_waiting(1, nobody_is) == nullptr);
}

TEST_CASE("tasks sent ahead stand in a list of their own, in their order") {
  executor e;
  task* const first = e.make(1, true, true);
  task* const second = e.make(2, true, true);
  e.books.add_waiting(first);
  e.books.add_waiting(second);
  CHECK(e.books.ahead() == 2);
  CHECK(e.books.waiting() == 2);
  CHECK(e.books.first_ahead() == first);
  CHECK(e.books.find_waiting(2, [](const task& t) { return t.id == 2; }) == second);
  e.books.remove_waiting(first);
  CHECK(e.books.first_ahead() == second);
  e.books.remove_waiting(second);
  CHECK_FALSE(e.books.has_ahead());
  CHECK(e.books.waiting() == 0);
}

TEST_CASE("ready tasks leave in the order in which they came, but for one that is taken") {
  executor e;
  task* const tasks[] = {e.make(1), e.make(2), e.make(3)};
  CHECK_FALSE(e.books.has_ready());
  for (task* const t : tasks) e.books.add_ready(t);
  CHECK(e.books.ready() == 3);
  CHECK(e.books.take_ready([](const task& t) { return t.id == 2; }) == tasks[1]);
  CHECK(e.books.take_ready(nobody_is) == nullptr);
  CHECK(e.books.pop_ready() == tasks[0]);
  CHECK(e.books.pop_ready() == tasks[2]);
  CHECK_FALSE(e.books.has_ready());
}

TEST_CASE("the maker of a value of rank 0 is found until its record is freed or another one takes its place") {
  executor e;
  task* const maker = e.make(1);
  maker->home_index = 7;
  e.books.note_maker(maker);
  CHECK(e.books.maker_of(7) == maker);
  CHECK(e.books.maker_of(7 + 256) == nullptr);  // shares the place in the table
  task* const other = e.make(2);
  other->home_index = 7 + 256;
  e.books.note_maker(other);
  CHECK(e.books.maker_of(7) == nullptr);
  e.books.forget_maker(maker);  // is not there any more
  CHECK(e.books.maker_of(7 + 256) == other);
  e.books.forget_maker(other);
  CHECK(e.books.maker_of(7 + 256) == nullptr);
  other->home_rank = 3;
  e.books.note_maker(other);
  CHECK(e.books.maker_of(7 + 256) == nullptr);  // it makes a value of another rank
}

TEST_CASE("tasks wait for room by rank, in order, and keep their places where there is none") {
  waiting_ahead w(4);
  CHECK(w.empty());
  for (std::uint64_t id = 1; id <= 3; ++id) w.add(2, {id, 0});
  w.add(3, {4, 0});
  std::string sent;
  int room = 1;
  const auto send = [&](std::uint32_t to, const task_place& t) {
    if (to == 2 && room-- == 0) return false;
    sent += std::to_string(to) + ":" + std::to_string(t.id) + " ";
    return true;
  };
  w.send_on(send);
  CHECK(sent == "3:4 2:1 ");
  CHECK_FALSE(w.empty());
  room = 9;
  w.send_on(send);
  CHECK(sent == "3:4 2:1 2:2 2:3 ");
  CHECK(w.empty());
}

TEST_CASE("tasks may be added while others are sent") {
  waiting_ahead w(3);
  w.add(1, {1, 0});
  std::vector<std::uint64_t> sent;
  const auto send = [&](std::uint32_t to, const task_place& t) {
    sent.push_back(t.id);
    if (t.id < 5) w.add(to, {t.id + 1, 0});
    if (t.id == 2) w.add(2, {10, 0});
    return true;
  };
  while (!w.empty()) w.send_on(send);
  CHECK(sent == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 10});
}

TEST_CASE("rank 0 knows of a task that it waits, where it was sent and why") {
  task_places p;
  CHECK_FALSE(p.find(5).is_known());
  p.note_waiting(5, node_at(17));
  CHECK(p.find(5).waits_here());
  CHECK_FALSE(p.find(5).is_sent());
  CHECK(p.find(5).index() == 17);
  graph::request wanted;
  wanted.granted.reason = graph::placement_reason::gang_in_bundles;
  wanted.granted.bundle = 0xfffff;
  p.note_sent(5, 3, &wanted);
  CHECK(p.find(5).is_sent());
  CHECK(p.find(5).rank() == 3);
  const graph::grant why = p.find(5).why();
  CHECK(why.rank == 3);
  CHECK(why.reason == graph::placement_reason::gang_in_bundles);
  CHECK(why.bundle == 0xfffff);
  p.note_sent(5, 2, nullptr);
  CHECK(p.find(5).why().reason == graph::placement_reason::none);
  p.forget(5);
  CHECK_FALSE(p.find(5).is_known());
}

TEST_CASE("a task that is cancelled while it is away ends when it comes back, and only then") {
  task_places p;
  p.note_sent(5, 3, nullptr);
  CHECK_FALSE(p.take_cancelled(5));
  p.cancel(5);
  CHECK(p.find(5).rank() == 3);
  CHECK(p.take_cancelled(5));
  CHECK_FALSE(p.find(5).is_known());
  p.cancel(6);  // it is not known
  CHECK_FALSE(p.take_cancelled(6));
}

TEST_CASE("a task is lost with the rank that has it, or that was sending its result") {
  task_places p;
  const auto two_is_dead = [](std::uint32_t r) { return r == 2; };
  p.note_sent(1, 2, nullptr);
  p.note_sent(2, 3, nullptr);
  p.note_waiting(3, node_at(2));
  p.note_sent(4, 2, nullptr);
  p.note_ended(4, 2, true);
  p.note_sent(5, 2, nullptr);
  p.note_ended(5, 2, false);
  p.rank_died(2);
  CHECK(p.take_lost(1, two_is_dead) == 2);
  CHECK(p.take_lost(1, two_is_dead) == no_index);  // once
  CHECK(p.take_lost(2, two_is_dead) == no_index);
  CHECK(p.take_lost(3, two_is_dead) == no_index);
  CHECK(p.take_lost(4, two_is_dead) == 2);
  CHECK(p.take_lost(5, two_is_dead) == no_index);
  p.note_sent(6, 2, nullptr);
  p.note_ended(6, 2, true);
  p.rank_died(2);
  p.note_waiting(6, node_at(1));  // it was submitted again
  p.forget(6);
  CHECK(p.take_lost(6, two_is_dead) == no_index);
}

TEST_CASE("only the last tasks are remembered when they have ended") {
  task_places p;
  const auto is_dead = [](std::uint32_t) { return true; };
  for (std::uint64_t key = 0; key <= task_places::most_ended; ++key) p.note_ended(key, 1, true);
  p.rank_died(1);
  CHECK(p.take_lost(0, is_dead) == no_index);
  CHECK(p.take_lost(1, is_dead) == 1);
  CHECK(p.take_lost(task_places::most_ended, is_dead) == 1);
}

TEST_CASE("random tasks, ends and deaths: the table and a plain model agree") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("task_places: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  task_places p;
  std::map<std::uint64_t, std::uint32_t> sent, lost;
  std::set<std::pair<std::uint64_t, std::uint32_t>> ended;
  std::set<std::uint32_t> dead;
  const auto is_dead = [&](std::uint32_t r) { return dead.count(r) != 0; };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = draw() % 50;
    const auto rank = static_cast<std::uint32_t>(1 + draw() % 30);
    switch (draw() % 6) {
      case 0:
        p.note_waiting(key, node_at(1));
        sent.erase(key);
        lost.erase(key);
        break;
      case 1:
      case 2:
        p.note_sent(key, rank, nullptr);
        sent[key] = rank;
        break;
      case 3:
        if (sent.count(key) == 0) break;
        p.note_ended(key, sent[key], true);
        ended.insert({key, sent[key]});
        sent.erase(key);
        break;
      case 4: {
        std::uint32_t expected = no_index;
        if (sent.count(key) != 0) {
          if (is_dead(sent[key])) expected = sent[key];
        } else if (!p.find(key).is_known() && lost.count(key) != 0) {
          expected = lost[key];
        }
        CHECK(p.take_lost(key, is_dead) == expected);
        if (expected == no_index) break;
        sent.erase(key);
        lost.erase(key);
        break;
      }
      default:
        if (draw() % 100 != 0) break;
        dead.insert(rank);
        p.rank_died(rank);
        for (const auto& [k, r] : ended) {
          if (r == rank) lost[k] = rank;
        }
    }
    CHECK(p.find(key).is_sent() == (sent.count(key) != 0));
  }
}
