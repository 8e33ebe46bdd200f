// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/outgoing_pulls.hpp, incoming_room.hpp, neighbours.hpp,
// results_at_once.hpp: fetches that wait for memory on either side, memory that
// ranks of a node show to each other, and results that need no fetch.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "manta/exec/value/incoming_room.hpp"
#include "manta/exec/value/neighbours.hpp"
#include "manta/exec/value/outgoing_pulls.hpp"
#include "manta/exec/value/results_at_once.hpp"

using manta::exec::incoming_room;
using manta::exec::neighbours;
using manta::exec::outgoing_pulls;
using manta::exec::pages_message;
using manta::exec::pull_message;
using manta::exec::results_at_once;
using manta::graph::no_index;

namespace {

struct node_at : manta::graph::node {
  explicit node_at(std::uint32_t place) { index = place; }
};

pull_message pull_of(std::uint32_t index) {
  pull_message m{};
  m.index = index;
  return m;
}

}  // namespace

TEST_CASE("a holder encodes for others up to a quarter of its memory, and answers the rest in turn") {
  outgoing_pulls p;
  CHECK(p.may_encode(400));
  p.note_encoded(100);
  CHECK(p.may_encode(400));
  p.note_encoded(1);
  CHECK_FALSE(p.may_encode(400));
  p.defer(3, pull_of(7));
  p.defer(2, pull_of(8));
  p.note_sent(100);
  CHECK(p.may_encode(400));
  CHECK(p.waiting() == 2);
  const outgoing_pulls::deferred first = p.take();
  CHECK(first.from == 3);
  CHECK(first.pull.index == 7);
  CHECK(p.take().from == 2);
  CHECK(p.waiting() == 0);
}

TEST_CASE("room is made once for a value, and given back once") {
  incoming_room r;
  node_at a(1), b(2);
  r.reserve(a, 1000);
  CHECK(r.release(b) == 0);
  CHECK(r.release(a) == 1000);
  CHECK(r.release(a) == 0);
}

TEST_CASE("values that wait to be asked for leave in turn, or when they are wanted at once, or not at all any more") {
  incoming_room r;
  node_at a(1), b(2), c(3), d(4);
  for (node_at* n : {&a, &b, &c, &d}) r.wait(*n);
  CHECK(r.take_waiting(b));
  CHECK_FALSE(r.take_waiting(b));
  CHECK(&r.take_waiting() == &a);
  CHECK(r.release(c) == 0);  // it came some other way
  CHECK(&r.take_waiting() == &d);
  CHECK_FALSE(r.has_waiting());
}

TEST_CASE("what was shown to a rank is taken once, one value or all") {
  neighbours n(4);
  n.note_shown(1, node_at(10));
  n.note_shown(1, node_at(11));
  n.note_shown(2, node_at(10));
  CHECK(n.take_shown(3) == no_index);
  CHECK(n.take_shown(1, 12) == no_index);
  CHECK(n.take_shown(2, 10) == 10);
  CHECK(n.take_shown(2, 10) == no_index);
  const std::uint32_t one = n.take_shown(1), other = n.take_shown(1);
  CHECK(one + other == 21);
  CHECK(n.take_shown(1) == no_index);
}

TEST_CASE("memory that this very process shows can be mapped, and other memory is not taken for it") {
  neighbours n(2);
  CHECK(n.may_map(1));
  const std::vector<std::byte> array(std::size_t{1} << 20, std::byte{7});
  const std::unique_ptr<manta::store::node_file> made(manta::store::node_file::with_copy(array.data(), array.size()));
  REQUIRE(made != nullptr);
  pages_message where{};
  where.process = getpid();
  where.descriptor = made->memory().get();
  where.room = made->room();
  where.maker = 1;
  where.identity = made->identity() + 1;
  CHECK(n.map(1, where) == nullptr);  // another process has this number, on the sender's side
  where.identity = made->identity();
  const std::unique_ptr<manta::store::node_file> mapped(n.map(1, where));
  REQUIRE(mapped != nullptr);
  CHECK(mapped->maker() == 1);
  where.descriptor = -1;
  CHECK(n.map(1, where) == nullptr);
  n.note_unmappable(1);
  CHECK_FALSE(n.may_map(1));
  CHECK(n.may_map(0));
}

TEST_CASE(
    "after a result was fetched, those of the next calls of its function come at once, as long as they are short") {
  results_at_once r;
  CHECK_FALSE(r.take(7));
  r.note_fetched(7, results_at_once::longest);
  CHECK_FALSE(r.take(6));
  CHECK_FALSE(r.take(8));
  for (int i = 0; i < results_at_once::calls_for_one_read; ++i) CHECK(r.take(7));
  CHECK_FALSE(r.take(7));
  r.note_fetched(7, results_at_once::longest + 1);
  CHECK_FALSE(r.take(7));
  r.note_fetched(7, 1);
  CHECK(r.take(7));
}
