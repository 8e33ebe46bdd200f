// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random graphs (support/random_graph.hpp), each compared with its serial
// evaluation. A quarter of the worlds has almost no memory for values, half of
// these and another quarter stand for several nodes.
//
// MANTA_RANDOM_GRAPHS sets the number of graphs. Graph i has the seed
// MANTA_TEST_SEED + i, and a mismatch prints its graph's own seed, so that
// MANTA_TEST_SEED=<that> MANTA_RANDOM_GRAPHS=1 builds this graph alone.
#include <doctest/doctest.h>

#include "support/random_graph.hpp"

using namespace manta::testing::random_graph;

TEST_CASE("random graphs give the values and failures of a serial evaluation") {
  const u64 first = manta::testing::seed("random graphs");
  const char* asked = std::getenv("MANTA_RANDOM_GRAPHS");
  const u64 count = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 40;
  manta::runtime plain(MPI_COMM_WORLD);
  manta::runtime_options scarce_memory;
  scarce_memory.store_memory = 400'000;
  manta::runtime scarce(MPI_COMM_WORLD, scarce_memory);
  setenv("MANTA_RANKS_PER_NODE", "2", 1);
  manta::runtime nodes(MPI_COMM_WORLD), scarce_nodes(MPI_COMM_WORLD, scarce_memory);
  unsetenv("MANTA_RANKS_PER_NODE");
  for (u64 i = 0; i < count; ++i) {
    const u64 seed = first + i;
    manta::runtime& rt = seed % 8 == 0 ? scarce : seed % 4 == 0 ? scarce_nodes : seed % 4 == 1 ? nodes : plain;
    const auto graph = draw_graph(seed);
    const auto expected = evaluate(graph);
    INFO("replay this graph with MANTA_TEST_SEED=" << seed << " MANTA_RANDOM_GRAPHS=1");
    manta::testing::checked_run(rt, [&] {
      const auto wrong = builder(graph, expected, seed).run().wrong;
      for (std::size_t w = 0; w < wrong.size() && w < 5; ++w) CHECK_MESSAGE(false, wrong[w]);
      CHECK(wrong.empty());
    });
    if (manta::testing::world_rank() == 0 && count >= 1000 && i % 100 == 99)
      MESSAGE((i + 1) << " of " << count << " graphs, the last with seed " << seed);
  }
}
