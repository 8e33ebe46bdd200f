// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/state/started_list.hpp, exec/rank/rank_set.hpp: the tasks that have started,
// in any order of their ends, and sets of ranks.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "manta/exec/rank/rank_set.hpp"
#include "manta/exec/state/started_list.hpp"

using manta::exec::rank_set;
using manta::exec::running_task;
using manta::exec::started_list;

namespace {

std::string ids(const started_list& list) {
  std::string text;
  for (const running_task* t = list.first(); t != nullptr; t = t->next) text += std::to_string(t->id);
  return text;
}

}  // namespace

TEST_CASE("started tasks are listed, the last first, and end in any order") {
  started_list list;
  list.set_limit(10);
  running_task a(1, 0), b(2, 0), c(3, 0);
  for (running_task* t : {&a, &b, &c}) {
    CHECK(list.may_start());
    list.add(*t);
  }
  CHECK(ids(list) == "321");
  list.remove(b);
  CHECK(ids(list) == "31");
  list.remove(c);
  CHECK(ids(list) == "1");
  list.remove(a);
  CHECK(list.first() == nullptr);
  CHECK(list.count() == 0);
}

TEST_CASE("a part that is told to stop before it starts knows it when it starts, once") {
  started_list list;
  list.stop_at_start(1, false);
  list.stop_at_start(2, true);
  running_task a(1, 0), b(2, 0), c(3, 0), again(1, 0);
  CHECK(list.take_stop_at_start(a));
  CHECK(a.stop);
  CHECK_FALSE(bool{a.stops_children});
  CHECK(list.take_stop_at_start(b));
  CHECK(bool{b.stops_children});
  CHECK_FALSE(list.take_stop_at_start(c));
  CHECK_FALSE(c.stop);
  CHECK_FALSE(list.take_stop_at_start(again));
  list.add(c);
  list.add(a);
  list.remove(c);
  list.add(c);  // a second time, in front of the other
  list.remove(a);
  CHECK(ids(list) == "3");
}

TEST_CASE("when too many have started, none may until most have ended") {
  started_list list;
  list.set_limit(16);
  running_task tasks[16];
  for (running_task& t : tasks) {
    REQUIRE(list.may_start());
    list.add(t);
  }
  CHECK_FALSE(list.may_start());
  for (int i = 15; i >= 2; --i) {
    list.remove(tasks[i]);
    CHECK_FALSE(list.may_start());
  }
  list.remove(tasks[1]);
  CHECK(list.may_start());
  list.add(tasks[1]);
  CHECK(list.may_start());  // up to the whole limit again
}

TEST_CASE("a set of ranks counts each member once") {
  rank_set s(4);
  CHECK(s.empty());
  CHECK_FALSE(s.has(3));
  s.erase(3);
  CHECK(s.empty());
  s.insert(3);
  s.insert(3);
  s.set(0, true);
  CHECK(s.size() == 2);
  CHECK(s.has(3));
  CHECK_FALSE(s.has(1));
  s.set(3, false);
  s.set(3, false);
  CHECK(s.size() == 1);
  s.clear();
  CHECK(s.empty());
  CHECK_FALSE(s.has(0));
  s.insert(1);
  CHECK(s.size() == 1);
}
