// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Parts of exec/task and exec/actor together, on several ranks in one process:
// random graphs of tasks, with messages and tasks in any order, with cancelled
// tasks, and with ranks that die; calls of actors; names; gangs, whose members do
// not meet in MPI here.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "../support/counter_actor.hpp"
#include "../support/test_functions.hpp"
#include "../support/whole_rank.hpp"

using namespace manta::exec;
namespace store = manta::store;

namespace {

using namespace test_functions;

/// A text too long to go with the news of its end.
const std::uint32_t long_text = function("long_text", [](invocation& call) {
  call.form = manta::graph::form::box;
  call.type = manta::wire::type_index<std::string>::value;
  call.box = new std::string(100'000, static_cast<char>('a' + argument_of(call)));
});

/// The parts of gangs that have run, and which of them fails.
struct gang_run {
  static inline int parts = 0, failing = -1;
};
/// A part of a gang: gives its place, its argument and the number of parts, in digits.
const std::uint32_t part = function("part", [](invocation& call) {
  ++gang_run::parts;
  if (call.team->rank == gang_run::failing) throw std::runtime_error("out of tea");
  const auto place = static_cast<std::uint64_t>(call.team->rank), size = static_cast<std::uint64_t>(call.team->size);
  give(call, 100 * place + 10 * argument_of(call) + size);
});

manta::graph::request* on_ranks(int ranks) {
  auto* const wanted = new manta::graph::request;
  wanted->ranks = ranks;
  return wanted;
}

manta::graph::request* new_actor(const std::string& name = "") {
  auto* const wanted = new manta::graph::request;
  wanted->actor = true;
  wanted->name = name;
  return wanted;
}

/// A number from a node that has ended well.
std::uint64_t ended(whole_rank& r, manta::graph::node& n) {
  if (n.state == state::failed) FAIL(store::describe(*store::failure_of(n)));
  REQUIRE(n.state == state::ready);
  return r.number_in(n);
}

/// A random graph of tasks of all ranks: each adds a number to some results that its rank has.
struct random_tasks {
  struct made {
    std::uint32_t rank;
    manta::graph::node* node;
    std::uint64_t expected;
  };
  random_tasks(whole_world& w, std::uint32_t ranks, int count) : world(w) {
    auto& random = world.random();
    for (int i = 0; i < count; ++i) {
      const auto r = static_cast<std::uint32_t>(random() % ranks);
      std::vector<manta::graph::node*> inputs;
      std::uint64_t expected = random() % 1000;
      const std::uint64_t own = expected;
      for (std::uint64_t k = random() % 4; k > 0 && !all.empty(); --k) {
        const made& input = all[random() % all.size()];
        if (input.rank != r || !world.is_alive(r)) continue;
        inputs.push_back(input.node);
        expected += input.expected;
      }
      all.push_back({r, &world[r].submit(add, own, inputs), expected});
      for (std::uint64_t steps = random() % 4; steps > 0; --steps) world.step();
    }
  }
  void release() {
    for (const made& m : all) {
      if (world.is_alive(m.rank)) world[m.rank].refs.release(*m.node);
    }
    world.run();
  }

  whole_world& world;
  std::vector<made> all;
};

}  // namespace

TEST_CASE("random graphs of tasks end with the sums that they would have one after the other") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 4);
    whole_world world(ranks, seed);
    random_tasks tasks(world, ranks, 40);
    world.run();
    for (const auto& t : tasks.all) CHECK(ended(world[t.rank], *t.node) == t.expected);
    tasks.release();
    REQUIRE(world.live_nodes() == 0);
  }
}

TEST_CASE("cancelled tasks fail, and what needs them; all others end well") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + seed % 4);
    whole_world world(ranks, seed);
    random_tasks tasks(world, ranks, 30);
    for (int i = 0; i < 5; ++i) {
      const auto& t = tasks.all[world.random()() % tasks.all.size()];
      whole_rank& r = world[t.rank];
      if (t.node->state == state::pending) {
        r.withdrawal.withdraw(*t.node, cancel_failure("test", "test", t.rank), 0);
        CHECK(t.node->state == state::failed);
      }
      world.step();
    }
    world.run();
    for (const auto& t : tasks.all) {
      REQUIRE(t.node->state != state::pending);
      t.node->set(manta::graph::node::observed);
      if (t.node->state == state::ready) CHECK(world[t.rank].number_in(*t.node) == t.expected);
    }
    tasks.release();
    REQUIRE(world.live_nodes() == 0);
  }
}

TEST_CASE("tasks that were on a rank that has died run again elsewhere") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    random_tasks before(world, seed % 2 == 0 ? 1 : 4, 30);
    const auto dead = static_cast<std::uint32_t>(1 + seed % 3);
    world.kill(dead);
    random_tasks after(world, 1, 10);
    world.run();
    for (const auto* tasks : {&before, &after}) {
      for (const auto& t : tasks->all) {
        if (t.rank != dead) CHECK(ended(world[t.rank], *t.node) == t.expected);
      }
    }
    before.release();
    after.release();
    if (seed % 2 == 0) CHECK(world[0].graph.nodes.live() == 0);
  }
}

TEST_CASE("a failure comes to its home, and what needs the value fails with it") {
  whole_world world(3);
  manta::graph::node& first = world[1].submit(fail, 0);
  manta::graph::node& next = world[1].submit(add, 1, {&first});
  world.run();
  for (manta::graph::node* n : {&first, &next}) {
    REQUIRE(n->state == state::failed);
    n->set(manta::graph::node::observed);
    CHECK(store::describe(*store::failure_of(*n)).find("out of tea") != std::string::npos);
    world[1].refs.release(*n);
  }
  world.run();
  CHECK(world.live_nodes() == 0);
}

TEST_CASE("calls of one caller run in their order, also before the actor's place is known; it ends with its handle") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    whole_world world(3, seed);
    manta::graph::node& handle = world[0].submit(construct, 0, {}, new_actor());
    std::vector<manta::graph::node*> results;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 1; i <= 6; ++i) {
      manta::graph::node& input = world[0].submit(add, i);  // not used, but waited for
      results.push_back(
          &world[0].call(handle, append, i,
                         i % 2 == 0 ? std::vector<manta::graph::node*>{&input} : std::vector<manta::graph::node*>{}));
      world[0].refs.release(input);
      for (std::uint64_t steps = world.random()() % 5; steps > 0; --steps) world.step();
    }
    world.run();
    for (std::uint64_t i = 1; i <= 6; ++i) {
      expected = 10 * expected + i;
      CHECK(ended(world[0], *results[i - 1]) == expected);
      world[0].refs.release(*results[i - 1]);
    }
    CHECK(counter::alive == 1);
    world[0].refs.release(handle);
    world.run();
    CHECK(counter::alive == 0);
    CHECK(world.live_nodes() == 0);
  }
}

TEST_CASE("calls of an actor that was killed, or whose rank has died, fail") {
  for (const bool by_death : {false, true}) {
    whole_world world(3, 7, by_death);
    manta::graph::node& handle = world[0].submit(construct, 0, {}, new_actor());
    world.run();
    REQUIRE(handle.state == state::ready);
    const actor_place place = actor_place_in(handle.bytes);
    manta::graph::node& before = world[0].call(handle, append, 1);
    by_death ? world.kill(place.rank) : world[0].calls.kill(handle, "the test has killed it");
    world.run();
    manta::graph::node& after = world[0].call(handle, append, 2);
    world.run();
    for (manta::graph::node* n : {&before, &after}) {
      if (n == &before && !by_death && n->state == state::ready) continue;  // it came before the news
      REQUIRE(n->state == state::failed);
      n->set(manta::graph::node::observed);
      CHECK(store::failure_of(*n)->kind == store::failure::kind::actor);
    }
    for (manta::graph::node* n : {&before, &after, &handle}) {
      n->set(manta::graph::node::observed);
      world[0].refs.release(*n);
    }
    world.run();
    CHECK(world[0].graph.nodes.live() == 0);
    if (by_death) counter::alive = 0;
  }
}

TEST_CASE("a call is refused if as many wait already as the actor's options allow") {
  whole_world world(2);
  auto* const wanted = new_actor();
  wanted->rules.max_pending = 1;
  manta::graph::node& handle = world[0].submit(construct, 0, {}, wanted);
  world.run();
  std::vector<manta::graph::node*> results;
  for (std::uint64_t i = 0; i < 4; ++i) results.push_back(&world[0].call(handle, append, i));
  int refused = 0;
  world.deliver_all();  // one of them could start, and one may wait
  world.run();
  for (manta::graph::node* n : results) {
    REQUIRE(n->state != state::pending);
    n->set(manta::graph::node::observed);
    refused += n->state == state::failed;
    world[0].refs.release(*n);
  }
  CHECK(refused == 2);
  world[0].refs.release(handle);
  world.run();
  CHECK(world.live_nodes() == 0);
  CHECK(counter::alive == 0);
}

TEST_CASE("a name is claimed once, found by all ranks, and free again when its actor has ended") {
  whole_world world(3);
  const name_state claimed = world[1].named.claim("ann", "counter");
  REQUIRE(claimed.handle == nullptr);
  manta::graph::node& ticket =
      world[1].named.submit(claimed, construct, {}, manta::graph::request_ptr(new_actor("ann")));
  manta::graph::node& handle = world[1].named.handle_of(ticket);
  const name_state found = world[2].named.ask("ann", "counter");
  REQUIRE(found.handle != nullptr);
  world.run();
  manta::graph::node& result = world[2].call(*found.handle, append, 7);
  world.run();
  CHECK(ended(world[2], result) == 7);
  world[2].refs.release(result);
  world[2].refs.release(*found.handle);
  world[1].refs.release(handle);
  world.run();
  CHECK(counter::alive == 0);
  CHECK(world[2].named.ask("ann", "counter").handle == nullptr);
  world.run();
  CHECK(world.live_nodes() == 0);
}

TEST_CASE(
    "each part of a gang runs once, and the result is the first one's; gangs and tasks do not hold each other up") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    whole_world world(5, seed);
    random_tasks beside(world, 5, 10);
    const auto home = static_cast<std::uint32_t>(seed % 5);
    gang_run::parts = 0;
    std::vector<manta::graph::node*> gangs;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      gangs.push_back(&world[home].submit(part, i, {}, on_ranks(static_cast<int>(i))));
      for (std::uint64_t steps = world.random()() % 6; steps > 0; --steps) world.step();
    }
    world.run();
    CHECK(gang_run::parts == 1 + 2 + 3 + 4);
    for (std::uint64_t i = 1; i <= 4; ++i) {
      CHECK(ended(world[home], *gangs[i - 1]) == 11 * i);
      world[home].refs.release(*gangs[i - 1]);
    }
    beside.release();
    REQUIRE(world.live_nodes() == 0);
    for (std::size_t r = 0; r < world.size(); ++r) CHECK(world[r].gangs.ends().empty());
  }
}

TEST_CASE("a gang fails with the first failure of a part, and its ranks are free again") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed);
    gang_run::failing = static_cast<int>(seed % 3);
    manta::graph::node& gang = world[0].submit(part, 1, {}, on_ranks(3));
    world.run();
    gang_run::failing = -1;
    REQUIRE(gang.state == state::failed);
    gang.set(manta::graph::node::observed);
    CHECK(store::describe(*store::failure_of(gang)).find("out of tea") != std::string::npos);
    manta::graph::node& next = world[0].submit(part, 2, {}, on_ranks(3));
    world.run();
    CHECK(ended(world[0], next) == 23);
    for (manta::graph::node* const n : {&gang, &next}) world[0].refs.release(*n);
    world.run();
    CHECK(world.live_nodes() == 0);
  }
}

TEST_CASE("a gang with a part on a rank that has died starts again on others") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    manta::graph::node& gang = world[0].submit(part, 1, {}, on_ranks(2));
    for (std::uint64_t steps = world.random()() % 8; steps > 0; --steps) world.step();
    world.kill(static_cast<std::uint32_t>(1 + seed % 3));
    world.run();
    CHECK(ended(world[0], gang) == 12);
    world[0].refs.release(gang);
    world.run();
    CHECK(world[0].graph.nodes.live() == 0);
    CHECK(world[0].gangs.ends().empty());
  }
}

TEST_CASE("an actor on several ranks has a part on each; calls reach all parts in one order, and all end with it") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed);
    auto* const wanted = new_actor();
    wanted->ranks = 3;
    manta::graph::node& handle = world[0].submit(construct, 0, {}, wanted);
    std::vector<manta::graph::node*> results;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      results.push_back(&world[0].call(handle, append, i));
      for (std::uint64_t steps = world.random()() % 6; steps > 0; --steps) world.step();
    }
    world.run();
    CHECK(counter::alive == 3);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 1; i <= 4; ++i) {
      expected = 10 * expected + i;
      CHECK(ended(world[0], *results[i - 1]) == expected);
      world[0].refs.release(*results[i - 1]);
    }
    world[0].refs.release(handle);
    world.run();
    CHECK(counter::alive == 0);
    CHECK(world.live_nodes() == 0);
  }
}

namespace {

/// The nodes of a rank, but for those that stand for what a dead rank knew.
std::size_t kept_nodes(whole_rank& r) {
  std::size_t kept = 0;
  r.graph.nodes.for_each([&](const node& n) { kept += n.state != state::failed; });
  return kept;
}

/// A handle of this rank, of an actor that lives on rank 2. No other actor is alive.
node& actor_on_rank_2(whole_world& world, std::uint32_t home) {
  counter::alive = 0;
  auto* const wanted = new_actor();
  wanted->rank = 2;
  node& handle = world[home].submit(construct, 0, {}, wanted);
  world.run();
  REQUIRE(handle.state == state::ready);
  return handle;
}

/// A handle as it travels in a value.
node& pass_on(whole_rank& from, node& n, whole_rank& to) {
  node& received = to.refs.import_reference(from.refs.export_reference(n), n.type);
  if (n.has(node::actor)) received.set(node::actor);
  return received;
}

}  // namespace

TEST_CASE("an actor whose owner has died ends, and its resources are free; one that others hold lives on") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    node& handle = actor_on_rank_2(world, 1);
    const bool is_shared = seed % 2 == 0;
    whole_rank& holder = world[seed % 4 == 0 ? 2 : 3];  // the actor's own rank asks itself too
    node* const shared = is_shared ? &pass_on(world[1], handle, holder) : nullptr;
    node& before = world[1].call(handle, append, 3);
    for (std::uint64_t steps = world.random()() % 6; steps > 0; --steps) world.step();
    world.kill(1);
    world.run();
    world.look_for_orphans();
    if (is_shared) {
      CHECK(counter::alive == 1);
      node& result = holder.call(*shared, append, 7);
      world.run();
      CHECK(ended(holder, result) % 10 == 7);
      holder.refs.release(result);
      holder.refs.release(*shared);
      world.run();
      world.look_for_orphans();
    }
    CHECK(counter::alive == 0);
    CHECK(world[2].graph.nodes.live() == 0);
    CHECK(world[3].graph.nodes.live() == 0);
    static_cast<void>(before);
  }
}

TEST_CASE("an orphan that is held is asked for at its holder alone, until that has let it go") {
  whole_world world(40, 5, true);
  const auto sent_by_all = [&] {
    std::uint64_t sent = 0;
    for (std::uint32_t r = 0; r < world.size(); ++r) sent += world.letters().of(r).sent;
    return sent;
  };
  node& handle = actor_on_rank_2(world, 1);
  node& shared = pass_on(world[1], handle, world[30]);
  world.run();
  world.kill(1);
  world.run();
  for (int looks = 0; looks < 3; ++looks) {
    const std::uint64_t before = sent_by_all();
    world.look_for_orphans();
    if (looks > 0) CHECK(sent_by_all() - before == 2);  // a question and an answer
  }
  CHECK(counter::alive == 1);
  world[30].refs.release(shared);
  world.run();
  world.look_for_orphans();
  CHECK(counter::alive == 0);
  CHECK(world[2].graph.nodes.live() == 0);
}

TEST_CASE("an actor of which a dead rank had the last handle ends, also where that rank had called it") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    node& handle = actor_on_rank_2(world, 0);
    node& held = pass_on(world[0], handle, world[1]);
    world.run();
    node* mine = seed % 2 == 0 ? &world[0].call(handle, append, 1) : nullptr;
    world[0].refs.release(handle);
    node& theirs = world[1].call(held, append, 2);
    for (std::uint64_t steps = world.random()() % 8; steps > 0; --steps) world.step();
    if (mine == nullptr) CHECK(counter::alive == 1);
    world.kill(1);
    world.run();
    CHECK(counter::alive == 0);
    if (mine != nullptr) {
      CHECK(ended(world[0], *mine) % 10 == 1);
      world[0].refs.release(*mine);
    }
    static_cast<void>(theirs);
  }
}

TEST_CASE("values that only a dead rank held are given up, where it was their home and where it was not") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    node& own = world[0].submit(add, 5);
    auto* const there = new manta::graph::request;
    there->rank = 2;
    node& theirs = world[1].submit(long_text, 9, {}, there);
    world.run();
    node& held = pass_on(world[0], own, world[1]);
    world.run();
    world[0].refs.release(own);
    world.run();
    CHECK(world[0].graph.nodes.live() == 1);
    REQUIRE(theirs.form == manta::graph::form::remote);
    CHECK(world[2].graph.nodes.live() == 1);
    world.kill(1);
    world.run();
    world.look_for_orphans();
    CHECK(world[2].graph.nodes.live() == 0);
    CHECK(kept_nodes(world[0]) == 0);
    static_cast<void>(held);
  }
}

TEST_CASE("a call with retries is made again after its actor's rank has died, as often as it says") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    whole_world world(5, seed, true);
    auto* const wanted = new_actor();
    wanted->restarts = 3;
    node& handle = world[0].submit(construct, 0, {}, wanted);
    world.run();
    const std::uint32_t first = actor_place_in(handle.bytes).rank;
    node& input = world[0].submit(add, 4);
    const std::uint64_t number = 7;
    std::vector<node*> calls;
    for (const int retries : {0, 1, 2}) {
      world[0].refs.hold(input);
      std::vector<node*> inputs{&input};
      calls.push_back(&world[0].calls.call_on_terms(handle, append, manta::wire::type_index<std::uint64_t>::value,
                                                    whole_rank::arguments(number, inputs), {.retries = retries}));
    }
    world[0].refs.release(input);
    world.let_rest(first);  // so they are under way when it dies
    for (std::uint64_t steps = world.random()() % 12; steps > 0; --steps) world.step();
    world.let_rest(whole_world::nobody);
    world.kill(first);
    world.run();
    REQUIRE(handle.state == state::ready);
    REQUIRE(calls[0]->state == state::failed);
    CHECK(store::failure_of(*calls[0])->kind == store::failure::kind::actor);
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) CHECK(ended(world[0], *calls[i]) % 10 == 7);
    for (node* const n : calls) {
      n->set(node::observed);
      world[0].refs.release(*n);
    }
    world[0].refs.release(handle);
    world.run();
    CHECK(kept_nodes(world[0]) == 0);
    CHECK(!world[0].calls.any_repeatable());
  }
  counter::alive = 0;
}

TEST_CASE(
    "a call that has not started by its deadline fails with timeout and does not run; one that has started ends") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    whole_world world(3, seed);
    node& handle = world[0].submit(construct, 0, {}, new_actor());
    if (seed % 2 == 0) world.run();
    const std::uint64_t number = 3;
    const auto call_by = [&](std::int64_t deadline) -> node& {
      return world[0].calls.call_on_terms(handle, append, manta::wire::type_index<std::uint64_t>::value,
                                          whole_rank::arguments(number, {}), {.deadline = deadline});
    };
    node& late = call_by(0);
    node& patient = call_by(3'600'000'000'000);
    world[0].clock.look_at_clock();
    world.deliver_all();  // the call has come, but has not started
    world.run();
    REQUIRE(late.state == state::failed);
    CHECK(store::failure_of(late)->kind == store::failure::kind::timeout);
    CHECK(ended(world[0], patient) == 3);
    CHECK(!world[0].clock.has_timers());
    late.set(node::observed);
    for (node* const n : {&late, &patient, &handle}) world[0].refs.release(*n);
    world.run();
    CHECK(counter::alive == 0);
    CHECK(world.live_nodes() == 0);
  }
}
