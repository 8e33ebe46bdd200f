// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/work/slots.hpp, exec/home/sent_arguments.hpp: slots are as new when
// they are used again, an actor is listed once, and long arguments are counted
// until the results of their calls come.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "manta/exec/home/sent_arguments.hpp"
#include "manta/exec/work/slots.hpp"

using manta::exec::actor_slot;
using manta::exec::actor_slots;
using manta::exec::sent_arguments;

TEST_CASE("a slot that was freed is used again, and is as new") {
  actor_slots slots;
  const std::uint32_t first = slots.take(), second = slots.take();
  CHECK(first != second);
  CHECK(slots.size() == 2);
  slots[first].received = 7;
  slots[first].dead = "it ended";
  slots[first].gang = new manta::graph::gang;
  slots.free(first);
  CHECK_FALSE(slots[first].used);
  CHECK(slots[first].gang == nullptr);
  CHECK(slots[first].dead == "it ended");  // a late call is still answered
  CHECK(slots.take() == first);
  CHECK(slots.size() == 2);
  CHECK(slots[first].used);
  CHECK(slots[first].received == 0);
  CHECK(slots[first].dead.empty());
  CHECK(slots[second].used);
}

TEST_CASE("what a slot owns goes with the slots") {
  actor_slots slots;
  slots[slots.take()].gang = new manta::graph::gang;
  actor_slot& kept = slots[0];
  for (int i = 0; i < 100; ++i) slots.take();
  CHECK(&kept == &slots[0]);  // slots stay where they are
}

TEST_CASE("an actor with something to do is listed once, and leaves in turn") {
  actor_slots slots;
  for (int i = 0; i < 3; ++i) slots.take();
  CHECK_FALSE(slots.has_listed());
  CHECK(slots.list(2));
  CHECK(slots.list(0));
  CHECK_FALSE(slots.list(2));
  CHECK(slots.listed() == 2);
  CHECK(slots.pop_listed() == 2);
  CHECK(slots.list(2));
  CHECK(slots.pop_listed() == 0);
  CHECK(slots.pop_listed() == 2);
  CHECK_FALSE(slots.has_listed());
}

TEST_CASE("long arguments are counted until the results of their calls come, the shortest never") {
  constexpr std::size_t half = sent_arguments::most_sent / 2;
  sent_arguments s;
  s.add(1, 8, true);
  CHECK(s.empty());
  s.add(2, half, true);
  s.add(3, half, true);
  CHECK_FALSE(s.is_too_much(2));
  s.add(4, half, true);
  CHECK(s.is_too_much(2));
  s.remove(3);
  s.remove(3);  // once
  s.remove(1);
  CHECK_FALSE(s.is_too_much(2));
  CHECK(s.is_too_much(1000));  // if all ranks sent as much to one
  s.remove(2);
  s.remove(4);
  CHECK(s.empty());
  s.add(5, half, true);
  s.clear();
  CHECK(s.empty());
  s.remove(5);
  CHECK(s.empty());
}

TEST_CASE("arguments of some length count for the submitter wherever the actor lives, but only long ones are refused") {
  sent_arguments s;
  s.add(1, 900, false);
  s.add(2, sent_arguments::most_sent * 2, false);
  CHECK(s.bytes() == 900 + sent_arguments::most_sent * 2);
  CHECK_FALSE(s.is_too_much(2));
  s.add(3, 900, true);
  CHECK(s.bytes() == 1800 + sent_arguments::most_sent * 2);
  s.remove(2);
  s.remove(3);
  CHECK(s.bytes() == 900);
}
