// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/work/explanations.hpp: why a task is where it is, or waits, in words.
#include <doctest/doctest.h>

#include <string>

#include "../../support/text.hpp"
#include "manta/exec/work/explanations.hpp"
#include "manta/graph/task_graph.hpp"

using namespace manta::exec;
using manta::graph::placement_reason;
using manta::testing::contains;

namespace {

std::string why(placement_reason reason, std::int32_t rank = 2) {
  manta::graph::grant g;
  g.rank = rank;
  g.reason = reason;
  return describe(g);
}

/// Two ranks that execute tasks, and rank 0.
struct three_ranks {
  three_ranks() : world(3), scheduler(graph.nodes, made()) {}
  const manta::base::array<manta::graph::capacity>& made() {
    for (std::uint32_t r = 0; r < 3; ++r) {
      world[r].cpus = 4;
      world[r].node = 0;
      world[r].executes = r != 0;
    }
    return world;
  }
  manta::graph::task_graph graph;
  manta::base::array<manta::graph::capacity> world;
  manta::graph::scheduler scheduler;
};

}  // namespace

TEST_CASE("a grant says the rank, and each reason in words of its own") {
  std::string before;
  for (int r = 0; r <= static_cast<int>(placement_reason::gang_in_bundles); ++r) {
    const std::string text = why(static_cast<placement_reason>(r));
    CHECK(contains(text, "on rank 2"));
    CHECK(text != before);
    before = text;
  }
  CHECK(why(placement_reason::none) == "on rank 2");
}

TEST_CASE("what a task asks for is listed, with what is free on the ranks that could take it") {
  three_ranks all;
  manta::graph::request wanted;
  wanted.cpus = 3;
  wanted.priority = 5;
  const std::string text = explain_waiting(wanted, all.scheduler, all.world);
  CHECK(contains(text, "cpus = 3"));
  CHECK(contains(text, "priority = 5"));
  CHECK(contains(text, "rank 1 has free"));
  CHECK(contains(text, "rank 2 has free"));
  CHECK_FALSE(contains(text, "rank 0 has free"));
  wanted.rank = 2;
  CHECK_FALSE(contains(explain_waiting(wanted, all.scheduler, all.world), "rank 1 has free"));
}

TEST_CASE("what a task misses is named, five inputs at most") {
  manta::graph::task_graph graph;
  manta::graph::node& n = graph.nodes.make();
  manta::graph::task* const t = graph.tasks.make(7, 0);
  for (std::uint32_t i = 0; i < 7; ++i) t->inputs()[i] = &graph.nodes.make();
  t->inputs()[0]->state = manta::graph::state::ready;
  n.form = manta::graph::form::record;
  n.record = t;
  n.missing = 6;
  const std::string text = explain_missing(n);
  CHECK(contains(text, "waits for 6 of its inputs:"));
  std::size_t named = 0;
  for (std::size_t at = text.find("another rank"); at != std::string::npos; at = text.find("another rank", at + 1))
    ++named;
  CHECK(named == 5);
  graph.tasks.free(t);
  n.form = manta::graph::form::none;
}

TEST_CASE("what is free is told rank by rank") {
  three_ranks all;
  const manta::wire::buffer bytes = describe_free(all.scheduler, 3);
  manta::wire::source in(bytes.data(), bytes.size());
  for (int r = 0; r < 3; ++r) {
    CHECK(in.get<decltype(manta::graph::stock::cpus)>() == 4);
    CHECK(in.get<std::int64_t>() == 0);
    CHECK(in.get<std::uint32_t>() == 0);
    CHECK(in.get<std::uint32_t>() == 0);
    manta::graph::quantities named;
    named.read(in);
  }
  CHECK(in.left() == 0);
}
