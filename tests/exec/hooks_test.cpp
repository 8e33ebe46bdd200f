// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/hooks.ipp on ranks in one process: what one part has another do and what random graphs of tasks do not need, such
// as tasks that run where they were made or that fail at first.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "../support/counter_actor.hpp"
#include "../support/looping_rank.hpp"
#include "../support/test_functions.hpp"
#include "../support/text.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/isolation/child_side.ipp"
#include "manta/wire/archive.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;
namespace store = manta::store;
namespace wire = manta::wire;
using manta::testing::contains;

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

/// A value that has to be encoded, and is too long to go with the news of its end.
using words = std::vector<std::string>;
const std::uint32_t write_words = function("write_words", [](invocation& call) {
  call.form = manta::graph::form::box;
  call.type = wire::type_index<words>::value;
  call.box = new words(argument_of(call), std::string(100, 'w'));
});
const std::uint32_t count_words = function("count_words", [](invocation& call) {
  give(call, static_cast<std::uint64_t>(static_cast<const words*>(store::decode(*call.inputs[0]))->size()));
});

int runs_of_counted = 0;
const std::uint32_t counted = function("counted", [](invocation& call) {
  ++runs_of_counted;
  give(call, argument_of(call));
});

const std::uint32_t rest_in_process = function("rest_in_process", [](invocation& call) {
  ::usleep(static_cast<useconds_t>(argument_of(call)));
  give(call, static_cast<std::uint64_t>(::getpid()));
});

/// A value with a handle: of a task that gives a number.
struct pouch {
  pouch() = default;
  pouch(whole_rank& on, node& its) : owner(&on), held(&its) {}
  pouch(const pouch&) = delete;
  pouch& operator=(const pouch&) = delete;
  ~pouch() {
    if (held != nullptr) owner->refs.release(*held);
  }
  void save(wire::writer& out) const {
    out.note_reference();
    const reference_message r = owner->refs.export_reference(*held);
    out.write(&r, sizeof r);
  }
  void load(wire::reader& in) {
    reference_message r{};
    in.read(&r, sizeof r);
    owner = whole_rank::acting;
    held = &owner->values.recovery.import_inside(r, wire::type_index<std::uint64_t>::value);
  }
  whole_rank* owner = nullptr;
  node* held = nullptr;
};
const std::uint32_t give_away = function("give_away", [](invocation& call) {
  whole_rank& r = *whole_rank::acting;
  call.form = manta::graph::form::box;
  call.type = wire::type_index<pouch>::value;
  call.box = new pouch(r, r.submit(add, argument_of(call)));
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

/// Releases these nodes of rank 0, which may have failed: then no actor lives, and there is no node.
void check_nothing_stays(whole_world& world, std::initializer_list<node*> nodes) {
  for (node* const n : nodes) {
    n->set(node::observed);
    world[0].refs.release(*n);
  }
  world.run();
  CHECK(counter::alive == 0);
  CHECK(world.live_nodes() == 0);
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

TEST_CASE("a task runs where it was made, though its input lies elsewhere") {
  whole_world world(3);
  node& array = world[1].submit(fill, 9, {}, on_rank(2), wire::type_index<numbers>::value);
  world.run();
  node& n = world[1].submit(first_of, 0, {&array});
  world[1].refs.release(array);
  world.run();
  CHECK(taken(world, 1, n) == 9);
  CHECK(world.live_nodes() == 0);
}

TEST_CASE("a reader gets its value also where it has to wait until another one has got his") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed);
    world[1].rank.ledger.set_limits(400'000, "none");
    node& text = world[0].submit(write_words, 1'500, {}, on_rank(1), wire::type_index<words>::value);
    world.run();
    std::vector<node*> readers;
    for (const int rank : {2, 3}) readers.push_back(&world[0].submit(count_words, 0, {&text}, on_rank(rank)));
    world[0].refs.release(text);
    world.run();
    for (node* const n : readers) CHECK(taken(world, 0, *n) == 1'500);
    CHECK(world.live_nodes() == 0);
  }
}

TEST_CASE("a handle in a lost value is made again with its owner's task, and nothing is kept for it afterwards") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    whole_world world(4, seed, true);
    node& gift = world[0].submit(give_away, 5, {}, nullptr, wire::type_index<pouch>::value);
    world.run();
    REQUIRE(gift.state == state::ready);
    whole_rank& r = world[0];
    node* const inside = static_cast<const pouch*>(store::decode(gift))->held;
    REQUIRE(inside->links != nullptr);
    world.kill(inside->links->rank);
    node& sum = world[0].submit(add, 100, {inside});
    world.run();
    CHECK(taken(world, 0, sum) == 105);
    world[0].refs.release(gift);
    world.run();
    CHECK(r.graph.nodes.live() == 0);
    CHECK_FALSE(r.values.lineage.has_members());
    CHECK_FALSE(r.values.lineage.has_tasks());
  }
}

TEST_CASE("a task with nothing but a number runs again if its rank dies and no task is to blame") {
  whole_world world(2 + 1, 1, true);
  std::vector<node*> made;
  for (std::uint64_t i = 0; i < 4; ++i) made.push_back(&world[0].submit(add, i));
  world.kill(1, manta::net::end_by::loss);
  world.run();
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(taken(world, 0, *made[i]) == i);
  CHECK(world[0].graph.nodes.live() == 0);
}

TEST_CASE("a rank gives back what it has not begun: rank 0 places it again, but not what was cancelled meanwhile") {
  for (const bool cancels : {false, true}) {
    CAPTURE(cancels);
    whole_world world(2);
    for (int i = 0; i < 200; ++i) {  // short tasks: then many may be under way
      node& n = world[0].submit(i % 2 == 0 ? counted : add, 0);
      world.run();
      taken(world, 0, n);
    }
    runs_of_counted = 0;
    node& first = world[0].submit(counted, 3);
    node& next = world[0].submit(add, 4, {&first});
    REQUIRE(next.form == manta::graph::form::record);
    CHECK(next.record->ahead);  // it was sent ahead of its input
    world.deliver_all();
    world[0].rank.post.send(1, message::demand, demand_message{10, 0});
    world.letters().hold(1, 0);
    world.deliver_all();
    world[1].duties.serve_others();  // as while another task takes long
    if (cancels) {
      world[0].withdrawal.withdraw(first, cancel_failure("test", "test", 0), 0);
      CHECK(next.state == state::failed);  // at once, though it was sent ahead
      first.set(node::observed);
      next.set(node::observed);
    }
    world.letters().hold_none();
    world.run();
    CHECK(runs_of_counted == (cancels ? 0 : 1));
    CHECK(first.state == (cancels ? state::failed : state::ready));
    if (cancels) {
      world[0].refs.release(next);
    } else {
      CHECK(taken(world, 0, next) == 7);
    }
    world[0].refs.release(first);
    world.run();
    CHECK(world.live_nodes() == 0);
  }
}

TEST_CASE("an actor that is killed before it lives has died when it would have lived") {
  whole_world world(3);
  node& handle = world[0].submit(construct, 0, {}, asking([](auto& wanted) { wanted.actor = true; }));
  world[0].calls.kill(handle, "the test has killed it");
  node& call = world[0].call(handle, append, 1);
  world.run();
  REQUIRE(call.state == state::failed);
  CHECK(contains(store::failure_of(call)->message, "the test has killed it"));
  check_nothing_stays(world, {&call, &handle});
}

TEST_CASE("a call of an actor on two ranks fails if its second part is dead") {
  whole_world world(3);
  node& handle = world[0].submit(construct, 0, {}, asking([](auto& wanted) {
                                   wanted.actor = true;
                                   wanted.ranks = 2;
                                 }));
  world.run();
  REQUIRE(handle.state == state::ready);
  CHECK(counter::alive == 2);
  const actor_place leads = actor_place_in(handle.bytes);
  const actor_slot& slot = world[leads.rank].work.actors.at(leads.slot);
  const std::uint32_t second = slot.gang->ranks[1], its_slot = slot.member_slots[1];
  world[second].work.actors.kill(its_slot, "a wire has come off");
  node& call = world[0].call(handle, append, 1);
  world.run();
  REQUIRE(call.state == state::failed);
  CHECK(contains(store::describe(*store::failure_of(call)), "a wire has come off"));
  check_nothing_stays(world, {&call, &handle});
}

TEST_CASE("a function may run in a process of its own, and meanwhile its rank looks around") {
  manta::base::zygote::of_process().start(
      [](int socket, manta::base::child_page& page) { child_side(socket, page).serve(); }, true);
  whole_world world(1);
  int looks = 0;
  world[0].rank.net.at_poll = [&] { return ++looks < 0; };
  node& n = world[0].submit(rest_in_process, 100'000, {}, asking([](auto& r) { r.isolate = true; }));
  world.run();
  if (n.state == state::failed) FAIL(store::describe(*store::failure_of(n)));
  REQUIRE(n.form == manta::graph::form::plain);
  CHECK(looks > 10);
  CHECK(taken(world, 0, n) != static_cast<std::uint64_t>(::getpid()));
  world[0].rank.net.at_poll = nullptr;
}

TEST_CASE("a task that has failed is kept in a file, and listed with its reason") {
  char folder[] = "/tmp/manta-kept-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  whole_world world(1);
  engine_options options;
  options.keep_failed = folder;
  world[0].keeping.configure(options);
  node& n = world[0].submit(fail, 4);
  world.run();
  REQUIRE(n.state == state::failed);
  n.set(node::observed);
  std::stringstream list;
  list << std::ifstream(std::string(folder) + "/list").rdbuf();
  CHECK(contains(list.str(), "1: test on rank 0"));
  CHECK(contains(list.str(), "out of tea"));
  const kept_task kept(std::string(folder) + "/1");
  CHECK(contains(kept.description(), "out of tea"));
  world[0].refs.release(n);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a task that asks whether it should stop, again and again, lets its rank serve others") {
  looping_world all(2);
  all[1].run([&] {
    all[1].loop.report_blocked(3, false);
    const std::int64_t until = manta::base::now_ns() + 2'000'000'000;
    while (all[1].loop.reported().tasks != 0 && manta::base::now_ns() < until) all[1].loop.stop_requested();
    CHECK(all[1].loop.reported().tasks == 0);  // rank 0 knows that none of its tasks waits any more
  });
  all.world.run();
}

TEST_CASE("each rank answers when rank 0 asks for the state of the run") {
  looping_world all(3);
  all[0].run([&] {
    const std::string text = all.world[0].seeing.state_now();
    CHECK(contains(text, "asked for by the program"));
    CHECK_FALSE(contains(text, "no answer"));
  });
  all.world.run();
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
