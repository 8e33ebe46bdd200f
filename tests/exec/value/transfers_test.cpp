// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/completion.hpp, supply.hpp, fetches.hpp, incoming_values.hpp on several ranks in one
// process: values are announced, pulled, sent on from rank to rank, and looked
// for when a rank has died.
#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../../support/clear_nodes.hpp"
#include "../../support/loopback_blocks.hpp"
#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/value/completion.ipp"
#include "manta/exec/value/fetches.hpp"
#include "manta/exec/value/fetches.ipp"
#include "manta/exec/value/incoming_values.ipp"
#include "manta/exec/value/references.ipp"
#include "manta/exec/value/supply.ipp"
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

/// A rank, as far as values go.
struct rank {
  rank(std::uint32_t number, std::uint32_t size, block_world& world)
      : net(number, world),
        members(size),
        failures_in_words(number, members),
        out(net, size),
        refs(number, graph, out, members, {ledger, made_by, journal, failures},
             {this, [](void*, node&, std::uint64_t) {}, [](void*, node&) {}, [](void*, task*) {},
              [](void*, const node&, manta::exec::rank_id) { return manta::store::share(manta::store::failure{}); }}),
        own{number, size, net, graph, ledger, out, members, failures_in_words, refs, counts, trace},
        ends(own, hooks()),
        held(own, ends,
             {this, [](void* self, rank_id from, const pull_message& m) { of(self).fetching.on_pull(from, m); }}),
        fetching(own, ends, held, made_by,
                 {this, [](void*, node&) { return false; },
                  [](void*, manta::exec::node_place) { return manta::exec::slot_index(manta::graph::no_index); }}) {}
  ~rank() { clear_nodes(graph); }
  rank(const rank&) = delete;
  rank& operator=(const rank&) = delete;

  static rank& of(void* self) { return *static_cast<rank*>(self); }
  completion<block_loopback>::hooks hooks() {
    return {
        .rank = this,
        .task_ready = [](void* self, node& n) { of(self).ready.push_back(n.index); },
        .wake = [](void* self, wait_record&) { ++of(self).woken; },
        .announce =
            [](void* self, const manta::graph::link& l, node& n) {
              of(self).held.tell_value({l.rank, l.index}, n);
            },
        .input_arrived = [](void*, task*, node&) {},
        .send_call = [](void*, node&, task*) {},
        .pulled =
            [](void* self, const manta::graph::link& l, node& n) {
              const auto home = of(self).refs.home_of(n);
              of(self).fetching.on_pull(l.rank, pull_message{home.rank, home.index, l.index, l.count, 0});
            },
        .send_after = [](void*, const manta::graph::link&, node&) {},
        .inherit = [](void*, node&) {},
        .await_return = [](void*, std::uint32_t) {},
        .stop_timer = [](void*, node& n) { n.reset(node::timed); },
        .free_task = [](void*, task*) {},
    };
  }
  void receive(std::uint32_t from, const letter& l) {
    if (members.is_dead(from)) return;
    if (receive_reference(refs, from, l)) return;
    arrival m{from, l.bytes.data(), l.bytes.size()};
    switch (l.kind) {
      case message::want: return held.on_want(from, m.read<want_message>());
      case message::value: {
        const auto header = m.read<result_message>();
        return fetching.on_value(from, header, m.data, m.bytes);
      }
      case message::data: {
        const auto header = m.read<data_message>();
        return fetching.on_data(from, header, m.data, m.bytes);
      }
      case message::pull: return fetching.on_pull(from, m.read<pull_message>());
      case message::unavailable: return fetching.on_unavailable(m.read<unavailable_message>());
      case message::cut_off: return fetching.on_cut_off(from, m.read<cut_off_message>());
      case message::mapped: return held.on_mapped(from, m.read<index_message>().index);
      case message::seek: return fetching.on_seek(from, m.read<seek_message>());
      case message::not_kept: return fetching.on_not_kept(m.read<seek_message>());
      case message::replicate: return fetching.on_replicate(from, m.read<replicate_message>());
      default: FAIL("no message of values");
    }
  }

  block_loopback net;
  store::ledger ledger;
  manta::graph::task_graph graph;
  membership members;
  failure_writer failures_in_words;
  lineage made_by;
  journaling journal;
  unobserved failures;
  post<block_loopback> out;
  references<block_loopback> refs;
  manta::exec::task_counts counts;
  manta::exec::task_trace trace;
  rank_context<block_loopback> own;
  completion<block_loopback> ends;
  supply<block_loopback> held;
  fetches<block_loopback> fetching;
  std::vector<std::uint32_t> ready;
  int woken = 0;
};

struct cluster {
  explicit cluster(std::uint32_t size, std::uint32_t seed = 1) : world(size), random(seed) {
    for (std::uint32_t r = 0; r < size; ++r) ranks.push_back(std::make_unique<rank>(r, size, world));
  }
  rank& operator[](std::uint32_t r) { return *ranks[r]; }
  bool deliver_one() {
    const auto block = [&] {
      return world.deliver_block([&](std::uint32_t to, std::uint64_t token) { ranks[to]->fetching.on_block(token); });
    };
    const auto one_letter = [&] {
      return world.deliver_one(random, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
        if (!ranks[from]->members.is_dead(to)) ranks[to]->receive(from, m);
      });
    };
    const bool any = random() % 2 == 0 ? block() || one_letter() : one_letter() || block();
    for (auto& r : ranks) {
      if (r->fetching.has_arrivals()) r->fetching.decode_arrived();
    }
    return any;
  }
  void deliver_all() {
    while (deliver_one()) {
    }
  }
  /// The value of a node of the rank `home`, made there.
  node& put(std::uint32_t home, numbers&& value) {
    node& n = ranks[home]->refs.make_node(manta::graph::no_index, wire::type_index<numbers>::value);
    ranks[home]->ends.complete_object(n, new numbers(std::move(value)), manta::graph::no_index);
    return n;
  }
  /// A handle of the node on another rank.
  node& pass(std::uint32_t from, node& n, std::uint32_t to) {
    return ranks[to]->refs.import_reference(ranks[from]->refs.export_reference(n), n.type);
  }
  std::size_t live() const { return live_nodes(ranks); }

  block_world world;
  std::mt19937 random;
  std::vector<std::unique_ptr<rank>> ranks;
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
  c[0].ends.complete_object(input, new numbers(sample(1, 3)), manta::graph::no_index);
  CHECK(c[0].woken == 1);
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
    c[1].fetching.need(far);
    c.deliver_all();
    CHECK(far.state == state::pending);
    c[0].ends.complete_object(n, new numbers(sample(7, count)), manta::graph::no_index);
    c.deliver_all();
    REQUIRE(far.state == state::ready);
    if (count == many) CHECK(far.form == form::remote);
    c[1].fetching.fetch(far);
    c.deliver_all();
    CHECK(value_of(far) == sample(7, count));
    CHECK(c[1].fetching.is_quiet());
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
  c[1].fetching.need(far);
  c[0].ends.fail(n, actor_failure("it broke"));
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
      c[r].fetching.need(*copies[r - 1]);
      for (std::uint32_t steps = c.random() % 4; steps > 0; --steps) c.deliver_one();
    }
    for (bool all = false; !all;) {
      all = true;
      for (std::uint32_t r = 1; r < size; ++r) {
        node& copy = *copies[r - 1];
        if (copy.state == state::ready && !store::is_here(copy)) c[r].fetching.fetch(copy);
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
    (*this)[1].fetching.need(at_one);
    letters();
    (*this)[1].fetching.fetch(at_one);
    letters();
    REQUIRE(block());
    CHECK_FALSE(store::is_here(at_one));
    (*this)[2].ends.lies_at(at_two, 1, count * sizeof(double));
    (*this)[2].fetching.fetch(at_two);
    letters();
  }
  void letters() {
    const auto receive = [&](std::uint32_t to, std::uint32_t from, const letter& m) {
      if (!ranks[to]->members.is_dead(from)) ranks[to]->receive(from, m);
    };
    while (world.deliver_one(random, receive)) continue;
  }
  bool block() {
    return world.deliver_block([&](std::uint32_t to, std::uint64_t token) { ranks[to]->fetching.on_block(token); });
  }
  void lose(std::uint32_t dead) {
    for (std::uint32_t r = 0; r < 3; ++r) {
      if (r == dead) continue;
      ranks[r]->members.note_death(dead, {"it has died: of cold", 0, manta::net::end_by::unknown});
      ranks[r]->fetching.rank_died(dead);
      ranks[r]->held.rank_died(dead);
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
  CHECK_FALSE(r[2].fetching.is_quiet());
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
    CHECK(r[2].fetching.is_quiet());
    REQUIRE(r.at_two.state == state::failed);  // nobody has all of it
    CHECK(store::failure_of(r.at_two)->message.find("of cold") != std::string::npos);
  }
}

TEST_CASE("a value is decoded at the top level where it came as one block, and until then it is known to have come") {
  cluster c(2);
  node& n = c[0].refs.make_node(manta::graph::no_index, wire::type_index<std::vector<std::string>>::value);
  const std::vector<std::string> words(20'000, "a longer word");
  c[0].ends.complete_object(n, new std::vector<std::string>(words), manta::graph::no_index);
  node& far = c.pass(0, n, 1);
  c[1].ends.lies_at(far, 0, 300'000);
  c[1].fetching.fetch(far);
  std::mt19937 order(1);
  const auto receive = [&](std::uint32_t to, std::uint32_t from, const letter& m) { c[to].receive(from, m); };
  while (c.world.deliver_one(order, receive)) continue;
  const auto take = [&](std::uint32_t to, std::uint64_t token) { c[to].fetching.on_block(token); };
  REQUIRE(c.world.deliver_block(take));
  CHECK(c[1].fetching.has_arrived(far));
  CHECK_FALSE(c[1].fetching.is_quiet());
  CHECK_FALSE(store::is_here(far));
  c[1].fetching.decode_arrived();
  CHECK(*static_cast<const std::vector<std::string>*>(store::decode(far)) == words);
  CHECK_FALSE(c[1].fetching.has_arrived(far));
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
  c[1].held.send_result(ended, call, nullptr);
  c[0].ends.lies_at(n, 1, many * sizeof(double));  // as the home reads the result
  CHECK(c[1].graph.nodes.live() == 1);
  c[0].fetching.fetch(n);
  std::mt19937 order(1);
  for (bool any = true; any;) {
    any = c.world.deliver_one(order, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
      if (m.kind != message::result) c[to].receive(from, m);
    });
    any |= c.world.deliver_block([&](std::uint32_t to, std::uint64_t token) { c[to].fetching.on_block(token); });
  }
  CHECK(value_of(n) == sample(3));
  CHECK(c[1].graph.nodes.live() == 0);
  c[0].refs.release(n);
  CHECK(c.live() == 0);
}

TEST_CASE("a copy that is kept outlives the home, and is found by a rank that looks for it") {
  cluster c(3);
  node& n = c.put(0, sample(5));
  c[0].held.replicate(n, 1);
  c.deliver_all();
  node& far = c.pass(0, n, 2);
  for (const std::uint32_t r : {1u, 2u}) {
    c[r].members.note_death(0, {"rank 0 has died: of cold", 0, manta::net::end_by::unknown});
    c[r].fetching.rank_died(0);
  }
  far.links->count = 0;
  c[2].fetching.need(far);
  c.deliver_all();
  REQUIRE(far.state == state::ready);
  c[2].fetching.fetch(far);
  c.deliver_all();
  CHECK(value_of(far) == sample(5));
}

TEST_CASE("a value of a dead home of which nobody has a copy is lost, and says so") {
  cluster c(3);
  node& n = c.put(0, sample(5));
  node& far = c.pass(0, n, 2);
  for (const std::uint32_t r : {1u, 2u})
    c[r].members.note_death(0, {"rank 0 has died: of cold", 0, manta::net::end_by::unknown});
  c[2].fetching.need(far);
  c.deliver_all();
  REQUIRE(far.state == state::failed);
  CHECK(store::failure_of(far)->kind == store::failure::kind::object);
  CHECK(store::failure_of(far)->message.find("of cold") != std::string::npos);
}
