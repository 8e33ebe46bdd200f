// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/completion.hpp, supply.hpp, fetches.hpp, incoming_values.hpp on several ranks in one
// process: values are announced, pulled, sent on from rank to rank, and looked
// for when a rank has died.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "../../support/whole_rank.hpp"
#include "manta/wire/archive.hpp"

using namespace manta::exec;
namespace store = manta::store;
namespace wire = manta::wire;

namespace {

using numbers = std::vector<double>;
constexpr std::size_t many = 100'000;

numbers sample(double first, std::size_t count = many) {
  numbers all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = first + static_cast<double>(i);
  return all;
}

using rank = whole_rank;

struct cluster {
  explicit cluster(std::uint32_t size, std::uint32_t seed = 1) : world(size, seed), random(seed) {}
  rank& operator[](std::uint32_t r) { return world.look_at(r); }
  void receive(std::uint32_t to, std::uint32_t from, const letter& m) {
    handle_message(world.look_at(to), from, m.kind, m.bytes.data(), m.bytes.size());
  }
  bool block() {
    return world.letters().deliver_block(
        [&](std::uint32_t to, std::uint64_t token) { world.look_at(to).fetches.on_block(token); });
  }
  bool deliver_one() {
    const auto one_letter = [&] {
      return world.letters().deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
        if (!world.look_at(from).rank.members.is_dead(to)) receive(to, from, m);
      });
    };
    const bool any = random() % 2 == 0 ? block() || one_letter() : one_letter() || block();
    for (std::uint32_t r = 0; r < world.size(); ++r) {
      if (world.look_at(r).fetches.has_arrivals()) world.look_at(r).fetches.decode_arrived();
    }
    return any;
  }
  void deliver_all() {
    while (deliver_one()) {
    }
  }
  /// The value of a node of the rank `home`, made there.
  node& put(std::uint32_t home, numbers&& value) {
    node& n = world.look_at(home).refs.make_node(manta::graph::no_index, wire::type_index<numbers>::value);
    world.look_at(home).completion.complete_object(n, new numbers(std::move(value)), manta::graph::no_index);
    return n;
  }
  /// A handle of the node on another rank.
  node& pass(std::uint32_t from, node& n, std::uint32_t to) {
    return world.look_at(to).refs.import_reference(world.look_at(from).refs.export_reference(n), n.type);
  }
  std::size_t live() const { return world.live_nodes(); }

  whole_world world;
  std::mt19937 random;
};

const numbers& value_of(node& n) {
  REQUIRE(n.state == state::ready);
  REQUIRE(store::is_here(n));
  return *static_cast<const numbers*>(store::decode(n));
}

}  // namespace

TEST_CASE("a node that ends starts the tasks that wait for nothing else, and wakes the waits") {
  cluster c(1);
  node& input = c[0].refs.make_node(manta::graph::no_index, wire::type_index<numbers>::value);
  wait_record wait;
  wait.remaining = 1;
  manta::graph::link& l = c[0].graph.add_link(input, link_kind::waiter);
  l.pointer = &wait;
  l.index = 4;
  c[0].completion.complete_object(input, new numbers(sample(1, 3)), manta::graph::no_index);
  CHECK(wait.over());
  CHECK(wait.ended[0] == 4);
  c[0].refs.release(input);
  CHECK(c.live() == 0);
}

TEST_CASE("a rank that wants a value hears of it when it has ended: a small one comes, a large one is pulled") {
  for (const std::size_t count : {std::size_t{3}, many}) {
    CAPTURE(count);
    cluster c(2);
    node& n = c[0].refs.make_node(manta::graph::no_index, wire::type_index<numbers>::value);
    node& far = c.pass(0, n, 1);
    c[1].fetches.need(far);
    c.deliver_all();
    CHECK(far.state == state::pending);
    c[0].completion.complete_object(n, new numbers(sample(7, count)), manta::graph::no_index);
    c.deliver_all();
    REQUIRE(far.state == state::ready);
    if (count == many) CHECK(far.form == form::remote);
    c[1].fetches.fetch(far);
    c.deliver_all();
    CHECK(value_of(far) == sample(7, count));
    CHECK(c[1].fetches.is_quiet());
    c[0].refs.release(n);
    c[1].refs.release(far);
    c.deliver_all();
    CHECK(c.live() == 0);
  }
}

TEST_CASE("a failure is told like a value, and counts as seen at its home") {
  cluster c(2);
  node& n = c[0].refs.make_node(manta::graph::no_index, wire::type_index<numbers>::value);
  node& far = c.pass(0, n, 1);
  c[1].fetches.need(far);
  c[0].completion.fail(n, actor_failure("it broke"));
  c.deliver_all();
  REQUIRE(far.state == state::failed);
  CHECK(store::failure_of(far)->message == "it broke");
  CHECK(n.has(node::observed));
  far.set(node::observed);
  c[0].refs.release(n);
  c[1].refs.release(far);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE(
    "an array reaches all ranks, each on its own node, in any order of messages, and no copy outlives its handle") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    constexpr std::uint32_t size = 7;
    cluster c(size, seed);
    node& n = c.put(0, sample(seed));
    std::vector<node*> copies;
    for (std::uint32_t r = 1; r < size; ++r) copies.push_back(&c.pass(0, n, r));
    for (std::uint32_t r = 1; r < size; ++r) {
      c[r].fetches.need(*copies[r - 1]);
      for (std::uint32_t steps = c.random() % 4; steps > 0; --steps) c.deliver_one();
    }
    for (bool all = false; !all;) {
      all = true;
      for (std::uint32_t r = 1; r < size; ++r) {
        node& copy = *copies[r - 1];
        if (copy.state == state::ready && !store::is_here(copy)) c[r].fetches.fetch(copy);
        all = all && copy.state == state::ready && store::is_here(copy);
      }
      if (!c.deliver_one()) break;
    }
    for (node* copy : copies) REQUIRE(value_of(*copy) == sample(seed));
    c[0].refs.release(n);
    for (std::uint32_t r = 1; r < size; ++r) c[r].refs.release(*copies[r - 1]);
    c.deliver_all();
    REQUIRE(c.live() == 0);
  }
}

namespace {

/// Rank 1 receives a value of rank 0 in blocks, of which one has come, and rank 2 has asked it for the value.
struct relay : cluster {
  relay() : cluster(3), made(put(0, sample(4, count))), at_one(pass(0, made, 1)), at_two(pass(0, made, 2)) {
    (*this)[1].fetches.need(at_one);
    letters();
    (*this)[1].fetches.fetch(at_one);
    letters();
    REQUIRE(block());
    CHECK_FALSE(store::is_here(at_one));
    (*this)[2].completion.lies_at(at_two, 1, count * sizeof(double));
    (*this)[2].fetches.fetch(at_two);
    letters();
  }
  void letters() {
    const auto take = [&](std::uint32_t to, std::uint32_t from, const letter& m) { receive(to, from, m); };
    while (world.letters().deliver_one(random, take)) continue;
  }
  void lose(std::uint32_t dead) {
    for (std::uint32_t r = 0; r < 3; ++r) {
      if (r == dead) continue;
      world.look_at(r).deaths.rank_died({0, dead, 0, manta::net::end_by::unknown}, "it has died: of cold");
    }
  }
  static constexpr std::size_t count = std::size_t{5} << 19;  // three blocks
  node& made;
  node& at_one;
  node& at_two;
};

}  // namespace

TEST_CASE("a value is sent on while it comes") {
  relay r;
  CHECK_FALSE(r[2].fetches.is_quiet());
  REQUIRE(r.block());  // the first one, sent on
  CHECK_FALSE(store::is_here(r.at_one));
  while (r.block()) continue;
  CHECK(value_of(r.at_one) == sample(4, relay::count));
  CHECK(value_of(r.at_two) == sample(4, relay::count));
  r.letters();
  r[0].refs.release(r.made);
  r[1].refs.release(r.at_one);
  r[2].refs.release(r.at_two);
  r.letters();
  CHECK(r.live() == 0);
}

TEST_CASE("a value that is cut off in the middle ends for all to which it was sent on, and is looked for elsewhere") {
  for (const bool block_before : {false, true}) {  // does the rank to which it was sent on hear of it late or early?
    CAPTURE(block_before);
    relay r;
    if (block_before) REQUIRE(r.block());
    r.lose(0);
    r.letters();
    while (r.block()) r.letters();
    CHECK(r[2].fetches.is_quiet());
    REQUIRE(r.at_two.state == state::failed);  // nobody has all of it
    CHECK(store::failure_of(r.at_two)->message.find("of cold") != std::string::npos);
  }
}

TEST_CASE("a value is decoded at the top level where it came as one block, and until then it is known to have come") {
  cluster c(2);
  node& n = c[0].refs.make_node(manta::graph::no_index, wire::type_index<std::vector<std::string>>::value);
  const std::vector<std::string> words(20'000, "a longer word");
  c[0].completion.complete_object(n, new std::vector<std::string>(words), manta::graph::no_index);
  node& far = c.pass(0, n, 1);
  c[1].completion.lies_at(far, 0, 300'000);
  c[1].fetches.fetch(far);
  std::mt19937 order(1);
  const auto receive = [&](std::uint32_t to, std::uint32_t from, const letter& m) { c.receive(to, from, m); };
  while (c.world.letters().deliver_one(order, receive)) continue;
  REQUIRE(c.block());
  CHECK(c[1].fetches.has_arrived(far));
  CHECK_FALSE(c[1].fetches.is_quiet());
  CHECK_FALSE(store::is_here(far));
  c[1].fetches.decode_arrived();
  CHECK(*static_cast<const std::vector<std::string>*>(store::decode(far)) == words);
  CHECK_FALSE(c[1].fetches.has_arrived(far));
  c[1].refs.release(far);
  c[0].refs.release(n);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE("a large result stays where it was made until its home fetches it, and then goes from there") {
  cluster c(2);
  node& n = c[0].refs.make_node(0, wire::type_index<numbers>::value);
  const ended_task ended{0, n.index};
  manta::exec::biased_lock lock{[](void*) {}, nullptr};
  invocation call(lock);
  call.form = form::box;
  call.type = wire::type_index<numbers>::value;
  call.box = new numbers(sample(3));
  c[1].values.supply.send_result(ended, call, nullptr);
  c[0].completion.lies_at(n, 1, many * sizeof(double));  // as the home reads the result
  CHECK(c[1].graph.nodes.live() == 1);
  c[0].fetches.fetch(n);
  std::mt19937 order(1);
  for (bool any = true; any;) {
    any = c.world.letters().deliver_one(order, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
      if (m.kind != message::result) c.receive(to, from, m);
    });
    any |= c.block();
  }
  CHECK(value_of(n) == sample(3));
  CHECK(c[1].graph.nodes.live() == 0);
  c[0].refs.release(n);
  CHECK(c.live() == 0);
}

TEST_CASE("a copy that is kept outlives the home, and is found by a rank that looks for it") {
  cluster c(3);
  node& n = c.put(0, sample(5));
  c[0].values.supply.replicate(n, 1);
  c.deliver_all();
  node& far = c.pass(0, n, 2);
  for (const std::uint32_t r : {1u, 2u}) {
    c[r].rank.members.note_death(0, {"rank 0 has died: of cold", 0, manta::net::end_by::unknown});
    c[r].fetches.rank_died(0);
  }
  far.links->count = 0;
  c[2].fetches.need(far);
  c.deliver_all();
  REQUIRE(far.state == state::ready);
  c[2].fetches.fetch(far);
  c.deliver_all();
  CHECK(value_of(far) == sample(5));
}

TEST_CASE("a value of a dead home of which nobody has a copy is lost, and says so") {
  cluster c(3);
  node& n = c.put(0, sample(5));
  node& far = c.pass(0, n, 2);
  for (const std::uint32_t r : {1u, 2u})
    c[r].rank.members.note_death(0, {"rank 0 has died: of cold", 0, manta::net::end_by::unknown});
  c[2].fetches.need(far);
  c.deliver_all();
  REQUIRE(far.state == state::failed);
  CHECK(store::failure_of(far)->kind == store::failure::kind::object);
  CHECK(store::failure_of(far)->message.find("of cold") != std::string::npos);
}
