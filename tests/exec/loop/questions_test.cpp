// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/loop/questions.hpp, tickets.hpp on several ranks in one process: who asks gets the answer of the rank that knows,
// or an error if that rank dies first.
#include <doctest/doctest.h>

#include <string>

#include "../../support/looping_rank.hpp"
#include "../../support/test_functions.hpp"
#include "../../support/text.hpp"
#include "manta/error.hpp"

using namespace manta::exec;
using namespace test_functions;
namespace wire = manta::wire;
using manta::graph::node;
using manta::testing::contains;

namespace {

node& promise_of(whole_rank& r) { return r.refs.make_node(no_index, manta::wire::type_index<std::uint64_t>::value); }
void keep_promise(whole_rank& r, node& n, std::uint64_t number) {
  manta::store::set_plain(n, reinterpret_cast<const std::byte*>(&number), sizeof number);
  r.ends.complete(n);
}
/// The node of another rank by which `r` knows `n`.
node& known_on(whole_rank& r, whole_rank& home, node& n) {
  return r.refs.import_reference(home.refs.export_reference(n), n.type);
}
}  // namespace

TEST_CASE("explain says what a task waits for, where it was placed and why, and how it has ended") {
  looping_world all(3);
  whole_rank& r = all.world[0];
  all[0].run([&] {
    node& missing = promise_of(r);
    node& n = r.submit(add, 1, {&missing});
    CHECK(contains(all[0].asked.explain(n), "waits for 1 of its inputs: 'a value of another rank'"));
    auto* const wanted = new manta::graph::request;
    wanted->rank = 2;
    node& there = r.submit(add, 2, {}, wanted);
    CHECK(contains(all[0].asked.explain(there), "rank 2"));
    CHECK(all[0].value(there) == 2);
    CHECK(contains(all[0].asked.explain(there), "it has ended: it ran on rank 2: it asked for that rank"));
    node& bad = r.submit(fail, 0);
    CHECK_THROWS(all[0].waits.value(bad));
    CHECK(contains(all[0].asked.explain(bad), "out of tea"));
    keep_promise(r, missing, 4);
    CHECK(all[0].value(n) == 5);
    for (node* each : {&missing, &n, &there, &bad}) r.refs.release(*each);
  });
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("a rank that asks about a task of another rank gets that rank's answer, or rank 0's") {
  looping_world all(3);
  whole_rank& home = all.world[2];
  node& missing = promise_of(home);
  node& n = home.submit(add, 1, {&missing});
  node& known = known_on(all.world[1], home, n);
  all[1].run([&] {
    CHECK(contains(all[1].asked.explain(known), "waits for 1 of its inputs"));
    CHECK(contains(all[1].asked.explain(known), "waits for 1 of its inputs"));
    CHECK(all[1].asked.cancel(known, false));
    CHECK_FALSE(all[1].asked.cancel(known, false));
  });
  CHECK(n.state == state::failed);
  all.world[1].refs.release(known);
  keep_promise(home, missing, 4);
  n.set(node::observed);
  for (node* each : {&missing, &n}) home.refs.release(*each);
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("a rank that asks about a task of another rank, which rank 0 has placed, gets rank 0's answer") {
  looping_world all(4);
  whole_rank& home = all.world[2];
  auto* const wanted = new manta::graph::request;
  wanted->rank = 3;
  node& n = home.submit(add, 1, {}, wanted);
  node& known = known_on(all.world[1], home, n);
  all.world.let_rest(3);
  all.world.deliver_all();
  all[1].run([&] { CHECK(contains(all[1].asked.explain(known), "on rank 3: it asked for that rank")); });
  all.world.let_rest(whole_world::nobody);
  all.world.run();
  all.world[1].refs.release(known);
  home.refs.release(n);
  all.world.run();
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("the home of a task has died: explain says so, and nothing is heard of the dead rank's memory") {
  looping_world all(4, 3, true);
  whole_rank& home = all.world[2];
  node& n = promise_of(home);
  node& known = known_on(all.world[1], home, n);
  bool dies = false;
  int looks = 0;
  all[1].at_each_look = [&] {
    if (dies && ++looks == 1) all.world.kill(2);  // before it can answer
  };
  all[1].run([&] {
    dies = true;
    for (int times = 0; times < 2; ++times) {
      const std::vector<wire::buffer> told = all[1].asked.memory_of_all();
      CHECK(told[2].empty());
      CHECK_FALSE(told[3].empty());
    }
    CHECK(contains(all[1].asked.explain(known), "its owner, rank 2, has died"));
  });
  all.world.run();
  known.set(node::observed);
  all.world[1].refs.release(known);
}

TEST_CASE("what is free on each rank, and what values take there") {
  looping_world all(3);
  whole_rank& r = all.world[1];
  node& n = promise_of(all.world[2]);
  all[1].run([&] {
    const wire::buffer free = all[1].asked.available();
    wire::source in(free.data(), free.size());
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(in.get<decltype(manta::graph::stock::cpus)>() == 1);
      in.get<decltype(std::declval<const manta::graph::stock&>().gpus.units())>();
      CHECK(in.get<std::uint32_t>() == 0);
      in.get<decltype(r.scheduler->held().actors(0))>();
      manta::graph::quantities none;
      none.read(in);
    }
    CHECK(in.left() == 0);
    const std::vector<wire::buffer> told = all[1].asked.memory_of_all();
    for (const std::uint32_t rank : {1u, 2u}) {
      wire::source values(told[rank].data(), told[rank].size());
      CHECK(values.get<std::uint64_t>() == all.world[rank].graph.nodes.live());
    }
  });
  all.world[2].refs.release(n);
  all.world.run();
}

TEST_CASE("a reservation ends its node when it is met, also on another rank, and is given up") {
  looping_world all(3);
  whole_rank& r = all.world[1];
  all[1].run([&] {
    manta::graph::bundle one;
    one.cpus = 1;
    wire::buffer wanted;
    wire::put(wanted, std::size_t{2});
    one.write(wanted);
    one.write(wanted);
    node& ready = promise_of(r);
    const std::uint64_t id = all[1].asked.reserve(wanted, manta::graph::strategy::pack, ready);
    CHECK(id != 0);
    all[1].waits.wait_for_end(ready, false);
    CHECK(ready.state == state::ready);
    node& more = promise_of(r);
    wire::buffer third;
    wire::put(third, std::size_t{1});
    one.write(third);
    all[1].asked.reserve(third, manta::graph::strategy::pack, more);
    CHECK_FALSE(all[1].waits.wait_for_end(more, manta::base::now_ns() + 1'000'000));
    CHECK(contains(all[1].asked.explain(more), "waits for rank 0 to meet the reservation"));
    all[1].asked.give_up_reservation(id);
    all[1].waits.wait_for_end(more, false);
    CHECK(more.state == state::ready);
    for (node* each : {&ready, &more}) r.refs.release(*each);
  });
  all.world.run();
}
