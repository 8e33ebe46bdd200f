// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/foreign_drops.hpp: nodes whose handles die on other threads reach
// their own rank, each once, and wake it.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "manta/exec/value/foreign_drops.hpp"

using manta::exec::foreign_drops;
using manta::graph::node;

namespace {

struct rank {
  manta::graph::node_table nodes;
  std::atomic<int> wakes{0};
  foreign_drops drops{nodes, [](void* self) { ++static_cast<rank*>(self)->wakes; }, this};

  rank() { drops.open(); }
  ~rank() { drops.close(); }
};

}  // namespace

TEST_CASE("a node is left to the rank that owns it, and is taken once") {
  rank first, second;
  node& n = second.nodes.make();
  CHECK(second.drops.empty());
  foreign_drops::leave(n);
  CHECK(first.drops.empty());
  CHECK_FALSE(second.drops.empty());
  CHECK(first.wakes == 0);
  CHECK(second.wakes == 1);
  const auto taken = second.drops.take();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0] == &n);
  CHECK(second.drops.empty());
  CHECK(second.drops.take().size() == 0);
  second.nodes.free(n);
}

TEST_CASE("a rank that is closed hears of nothing") {
  rank open;
  node& n = open.nodes.make();
  {
    rank closed;
    closed.drops.close();
    foreign_drops::leave(n);
    CHECK(closed.drops.empty());
    closed.drops.open();
  }
  CHECK(open.drops.take().size() == 1);
  open.nodes.free(n);
}

TEST_CASE("nodes that many threads leave are all taken, while the rank looks") {
  constexpr int threads = 4, each = 2'000;
  rank r;
  std::vector<node*> nodes;
  for (int i = 0; i < threads * each; ++i) nodes.push_back(&r.nodes.make());
  std::vector<std::thread> leaving;
  std::atomic<int> done{0};
  for (int t = 0; t < threads; ++t) {
    leaving.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) foreign_drops::leave(*nodes[static_cast<std::size_t>(t * each + i)]);
      ++done;
    });
  }
  std::multiset<node*> taken;
  const auto look = [&] {
    for (node* n : r.drops.take()) taken.insert(n);
  };
  while (done < threads) look();
  for (std::thread& t : leaving) t.join();
  look();
  CHECK(taken == std::multiset<node*>(nodes.begin(), nodes.end()));
  CHECK(r.wakes == threads * each);
  for (node* n : nodes) r.nodes.free(*n);
}
