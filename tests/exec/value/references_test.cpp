// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/references.hpp on several ranks in this process: handles are passed
// on, lent, repaid and dropped in any order of messages, and no node outlives
// its last handle or dies before it.
#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "../../support/loopback.hpp"
#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/value/references.hpp"
#include "manta/exec/value/references.ipp"

using manta::exec::arrival;
using manta::exec::journaling;
using manta::exec::lineage;
using manta::exec::membership;
using manta::exec::message;
using manta::exec::post;
using manta::exec::reference_message;
using manta::exec::unobserved;
using manta::graph::node;
namespace graph = manta::graph;
namespace exec = manta::exec;

namespace {

using references = exec::references<loopback>;

/// A rank, as far as it counts references.
struct rank {
  rank(std::uint32_t number, loopback_world& world)
      : net{number, world}, refs(number, graph, out, members, {values, made_by, journal, failures}, hooks()) {}

  references::hooks hooks() {
    return {
        .rank = this,
        .stand_in_gone = [](void*, node&, std::uint64_t) {},
        .actor_gone = [](void* self, node&) { ++static_cast<rank*>(self)->actors_gone; },
        .free_task = [](void*, graph::task*) {},
    };
  }
  void receive(std::uint32_t from, const letter& m) {
    if (receive_reference(refs, from, m)) return;
    REQUIRE(m.kind == message::end_actor);
    arrival a{from, m.bytes.data(), m.bytes.size()};
    calls_told += a.read<exec::end_actor_message>().calls;
  }

  loopback net;
  manta::store::ledger values;
  graph::task_graph graph;
  membership members{4};
  lineage made_by;
  journaling journal;
  unobserved failures;
  post<loopback> out{net, 4};
  references refs;
  int actors_gone = 0;
  std::uint64_t calls_told = 0;
};

/// Ranks between which letters go, in an order that follows from the seed.
struct cluster {
  explicit cluster(std::uint32_t size, std::uint32_t seed = 1) : world(size), random(seed) {
    for (std::uint32_t r = 0; r < size; ++r) ranks.push_back(std::make_unique<rank>(r, world));
  }
  rank& operator[](std::uint32_t r) { return *ranks[r]; }
  bool deliver_one() {
    return world.deliver_one(
        random, [&](std::uint32_t to, std::uint32_t from, const letter& m) { ranks[to]->receive(from, m); });
  }
  void deliver_all() {
    while (deliver_one()) {
    }
  }
  std::size_t live() const { return live_nodes(ranks); }

  loopback_world world;
  std::mt19937 random;
  std::vector<std::unique_ptr<rank>> ranks;
};

/// A value that has ended.
node& ready(rank& r) {
  node& n = r.refs.make_node(graph::no_index, 0);
  n.state = graph::state::ready;
  return n;
}

}  // namespace

TEST_CASE("a node lives as long as it has a handle on this rank") {
  cluster c(1);
  node& n = ready(c[0]);
  c[0].refs.hold(n);
  c[0].refs.release(n);
  CHECK(c.live() == 1);
  c[0].refs.release(n);
  CHECK(c.live() == 0);
}

TEST_CASE("a handle that is passed on keeps the home's node, and a rank has one stand-in for all handles") {
  cluster c(2);
  node& n = ready(c[0]);
  node& first = c[1].refs.import_reference(c[0].refs.export_reference(n), 0);
  node& second = c[1].refs.import_reference(c[0].refs.export_reference(n), 0);
  CHECK(&first == &second);
  CHECK(exec::is_stand_in(first));
  CHECK(c[1].refs.home_of(first).rank == 0);
  CHECK(c[1].refs.home_of(first).index == n.index);
  c[0].refs.release(n);
  c[1].refs.release(first);
  c.deliver_all();
  CHECK(c.live() == 2);
  c[1].refs.release(second);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE("a lent handle keeps the lender's stand-in until the receiver has a reference of its own") {
  cluster c(3);
  node& n = ready(c[0]);
  node& lenders = c[1].refs.import_reference(c[0].refs.export_reference(n), 0);
  c[0].refs.release(n);
  const reference_message lent = c[1].refs.export_reference(lenders);
  CHECK(lent.lender_index == lenders.index);
  c[1].refs.release(lenders);
  CHECK(c[1].graph.nodes.live() == 1);
  node& received = c[2].refs.import_reference(lent, 0);
  c.deliver_all();
  CHECK(c[1].graph.nodes.live() == 0);
  CHECK(c.live() == 2);
  c[2].refs.release(received);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE("the home hears how many calls were made through the handles that come back") {
  cluster c(2);
  node& n = ready(c[0]);
  n.form = graph::form::plain;
  n.set(node::actor);
  const exec::actor_place lives{1, 7};
  std::memcpy(n.bytes, &lives, sizeof lives);
  node& far = c[1].refs.import_reference(c[0].refs.export_reference(n), 0);
  far.set(node::actor);
  c[1].refs.add_calls(far, 3);
  c[0].refs.add_calls(n, 2);
  c[1].refs.release(far);
  c.deliver_all();
  c[0].refs.release(n);
  c.deliver_all();
  CHECK(c[1].calls_told == 5);
  CHECK(c[0].actors_gone == 1);
  CHECK(c.live() == 0);
}

TEST_CASE("a value that lies elsewhere keeps its index until its place has let it go") {
  cluster c(2);
  node& n = c[0].refs.make_node(graph::no_index, 0);
  n.state = graph::state::ready;
  n.form = graph::form::remote;
  n.remote = {100, 1};
  node& there = c[1].refs.stand_in(0, n.index, 0);
  there.set(node::primary);
  c[0].refs.release(n);
  CHECK(c[0].graph.nodes.live() == 1);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE("replicas go with the last handle of their value") {
  cluster c(3);
  node& n = ready(c[0]);
  for (const std::uint32_t keeper : {1u, 2u}) {
    c[0].graph.add_link(n, graph::link_kind::replica).rank = keeper;
    c[keeper].refs.stand_in(0, n.index, 0).set(node::primary);
  }
  c[0].refs.release(n);
  CHECK(c.live() == 3);
  c.deliver_all();
  CHECK(c.live() == 0);
}

TEST_CASE("a failure that nobody has looked at is counted when its last handle dies") {
  cluster c(1);
  node& n = c[0].refs.make_node(graph::no_index, 0);
  manta::store::failure f;
  f.message = "it was never read";
  manta::store::set_failure(n, manta::store::share(std::move(f)));
  n.state = graph::state::failed;
  c[0].refs.release(n);
  CHECK(c[0].failures.count() == 1);
}

TEST_CASE("in any order of messages every node dies with its last handle, and none before") {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    constexpr std::uint32_t size = 4;
    cluster c(size, seed);
    struct handle {
      std::uint32_t rank;
      node* n;
      std::uint32_t home, index;
    };
    std::vector<handle> handles;
    struct under_way {
      std::uint32_t to;
      reference_message reference;
      std::uint32_t home, index;
    };
    std::vector<under_way> parcels;  // handles inside values, which come some time
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(c.random() % n); };
    const auto drop = [&](std::size_t i) {
      const handle h = handles[i];
      handles.erase(handles.begin() + static_cast<std::ptrdiff_t>(i));
      c[h.rank].refs.release(*h.n);
    };
    for (int step = 0; step < 200; ++step) {
      switch (c.random() % 5) {
        case 0: {
          const auto r = static_cast<std::uint32_t>(pick(size));
          node& n = ready(c[r]);
          handles.push_back({r, &n, r, n.index});
          break;
        }
        case 1:
          if (handles.empty()) break;
          {
            const handle& h = handles[pick(handles.size())];
            const auto to = static_cast<std::uint32_t>(pick(size));
            parcels.push_back({to, c[h.rank].refs.export_reference(*h.n), h.home, h.index});
          }
          break;
        case 2:
          if (parcels.empty()) break;
          {
            const std::size_t i = pick(parcels.size());
            const under_way p = parcels[i];
            parcels.erase(parcels.begin() + static_cast<std::ptrdiff_t>(i));
            handles.push_back({p.to, &c[p.to].refs.import_reference(p.reference, 0), p.home, p.index});
          }
          break;
        case 3:
          if (!handles.empty()) drop(pick(handles.size()));
          break;
        default: c.deliver_one();
      }
      for (const handle& h : handles) {
        const auto home = c[h.rank].refs.home_of(*h.n);
        REQUIRE(home.rank == h.home);
        REQUIRE(home.index == h.index);
        REQUIRE(h.n->refs.load() > 0);
        REQUIRE(c[h.home].graph.nodes.at(h.index).state == graph::state::ready);
      }
    }
    for (const under_way& p : parcels) {
      handles.push_back({p.to, &c[p.to].refs.import_reference(p.reference, 0), p.home, p.index});
    }
    while (!handles.empty()) drop(pick(handles.size()));
    c.deliver_all();
    REQUIRE(c.live() == 0);
  }
}
