// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/hooks.ipp on ranks in one process: what one part has another do and what random graphs of tasks do not need, such
// as tasks that run where they were made or that fail at first.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "../support/counter_actor.hpp"
#include "../support/looping_rank.hpp"
#include "../support/test_functions.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;
namespace store = manta::store;

namespace {

int runs_of_unsteady = 0;
/// Fails the first time.
const std::uint32_t unsteady = function("unsteady", [](invocation& call) {
  if (++runs_of_unsteady == 1) throw std::runtime_error("not yet");
  give(call, argument_of(call));
});

using numbers = std::vector<double>;
/// An array too long to go with the news of its end.
const std::uint32_t fill = function("fill", [](invocation& call) {
  call.form = manta::graph::form::box;
  call.type = manta::wire::type_index<numbers>::value;
  call.box = new numbers(20'000, static_cast<double>(argument_of(call)));
});
const std::uint32_t first_of = function("first_of", [](invocation& call) {
  give(call, static_cast<std::uint64_t>(static_cast<const numbers*>(store::decode(*call.inputs[0]))->front()));
});

template <class Change>
manta::graph::request* asking(Change change) {
  auto* const wanted = new manta::graph::request;
  change(*wanted);
  return wanted;
}
manta::graph::request* on_rank(int rank) {
  return asking([=](auto& r) { r.rank = rank; });
}

/// Gives up the handle of a node that has ended well, and returns its number.
std::uint64_t taken(whole_world& world, std::uint32_t rank, node& n) {
  whole_rank& r = world[rank];
  REQUIRE(n.state == state::ready);
  const std::uint64_t number = r.number_in(n);
  r.refs.release(n);
  world.run();
  return number;
}

}  // namespace

TEST_CASE("a task that rank 0 places where it was made runs there") {
  whole_world world(3);
  node& n = world[1].submit(add, 7, {}, on_rank(1));
  world.run();
  CHECK(taken(world, 1, n) == 7);
  CHECK(world.live_nodes() == 0);
}

TEST_CASE("a task that fails is started again as often as it may be") {
  whole_world world(3);
  runs_of_unsteady = 0;
  node& n = world[1].submit(unsteady, 7, {}, asking([](auto& r) { r.retries = 1; }));
  world.run();
  CHECK(runs_of_unsteady == 2);
  CHECK(taken(world, 1, n) == 7);
  CHECK(world.live_nodes() == 0);
}

TEST_CASE("a task gets a long input that lies on a third rank, and many readers of one node get it too") {
  whole_world world(6, 1, false, std::size_t{1} << 20, 2);
  node& array = world[0].submit(fill, 9, {}, on_rank(1), manta::wire::type_index<numbers>::value);
  world.run();
  std::vector<node*> readers;
  for (const int rank : {2, 3, 4, 5}) readers.push_back(&world[0].submit(first_of, 0, {&array}, on_rank(rank)));
  world[0].refs.release(array);
  world.run();
  for (node* const n : readers) CHECK(taken(world, 0, *n) == 9);
  CHECK(world.live_nodes() == 0);
}

TEST_CASE("a caller that runs ahead of an actor waits until some of its calls have ended") {
  looping_world all(3, 1, false, 100);
  counter::alive = 0;
  whole_rank& r = all.world[0];
  all[0].run([&] {
    node& handle = r.submit(construct, 0, {}, asking([](auto& wanted) { wanted.actor = true; }));
    std::vector<node*> made;
    std::size_t most = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
      made.push_back(&r.call(handle, append, 0));
      most = std::max(most, r.home.unfinished());
    }
    CHECK(most > 90);
    CHECK(most <= 100 + 64);  // one call of 64 looks
    for (node* const n : made) {
      all[0].value(*n);
      r.refs.release(*n);
    }
    r.refs.release(handle);
  });
  all.world.run();
  CHECK(counter::alive == 0);
  CHECK(all.world.live_nodes() == 0);
}

TEST_CASE("rank 0 asks the others for their reports") {
  looping_world all(4);
  for (std::uint32_t r = 0; r < 4; ++r) all.world.look_at(r).seeing.begin_run();
  all[0].run([&] {
    const manta::statistics now = all.world[0].seeing.statistics_now();
    for (const manta::rank_statistics& each : now.ranks) CHECK(each.is_known);
  });
}
