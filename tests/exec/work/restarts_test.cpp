// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/work/restarts.hpp, with actors on ranks in one process: an actor that a method has found broken is built anew
// from its checkpoint or by its constructor, does its calls again, and ends when it may not be; after the death of its
// rank it goes on elsewhere with its last checkpoint.
#include <doctest/doctest.h>

#include <string>

#include "../../support/test_functions.hpp"
#include "../../support/text.hpp"
#include "../../support/whole_rank.hpp"
#include "manta/error.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;
using manta::testing::contains;

namespace {

/// A number, and how often such objects were made and saved.
struct tally {
  explicit tally(std::uint64_t first) : sum(first) { ++built; }
  std::uint64_t sum;
  static inline int built = 0, saved = 0, loaded = 0, done = 0;
  static inline bool refuses_to_be_built = false, refuses_to_be_saved = false;
  static void reset() {
    built = saved = loaded = done = 0;
    refuses_to_be_built = refuses_to_be_saved = false;
  }
};
const actor_class tally_class{[](void* object) { delete static_cast<tally*>(object); },
                              [](const void* object, manta::wire::sink& out) {
                                if (tally::refuses_to_be_saved) throw std::runtime_error("no paper");
                                ++tally::saved;
                                out.write(&static_cast<const tally*>(object)->sum, sizeof(std::uint64_t));
                              },
                              [](manta::wire::source& in) -> void* {
                                ++tally::loaded;
                                return new tally(in.get<std::uint64_t>());
                              }};
const std::uint32_t construct = function("tally", [](invocation& call) {
  if (tally::refuses_to_be_built) throw std::runtime_error("no bricks");
  call.actor = new tally(argument_of(call));
  call.actor_type = &tally_class;
});
const std::uint32_t append = function("append", [](invocation& call) {
  auto& its = *static_cast<tally*>(call.self);
  its.sum = 10 * its.sum + argument_of(call);
  ++tally::done;
  give(call, its.sum);
});
const std::uint32_t look = function(
    "look", [](invocation& call) { give(call, static_cast<tally*>(call.self)->sum); }, true);
const std::uint32_t spoil = function("spoil", [](invocation& call) {
  static_cast<tally*>(call.self)->sum = 999;
  throw manta::fatal("a wire has come off");
});

/// An actor that begins with 1, in a world of its own.
struct one_actor {
  explicit one_actor(int restarts, int checkpoint_every = 100, bool recovers = false) : world(3, 5, recovers) {
    tally::reset();
    auto* const wanted = new manta::graph::request;
    wanted->actor = true;
    wanted->restarts = restarts;
    wanted->rules.checkpoint_every = checkpoint_every;
    handle = &world[0].submit(construct, 1, {}, wanted);
    world.run();
    REQUIRE(handle->state == state::ready);
  }
  ~one_actor() {
    handle->set(node::observed);
    world[0].refs.release(*handle);
    world.run();
  }
  /// The result, or 0 and the failure's text.
  std::uint64_t call(std::uint32_t function, std::uint64_t number = 0) {
    node& n = world[0].call(*handle, function, number);
    world.run();
    std::uint64_t result = 0;
    if (n.state == state::ready) result = world[0].number_in(n);
    if (n.state == state::failed) failure = manta::store::describe(*manta::store::failure_of(n));
    n.set(node::observed);
    world[0].refs.release(n);
    world.run();
    return result;
  }
  std::uint32_t rank() const { return actor_place_in(handle->bytes).rank; }

  whole_world world;
  node* handle = nullptr;
  std::string failure;
};

}  // namespace

TEST_CASE("a broken actor is built by its constructor, and does its calls again in their order") {
  one_actor a(1);
  CHECK(a.call(append, 2) == 12);
  CHECK(a.call(append, 3) == 123);
  CHECK(a.call(spoil) == 0);
  CHECK(contains(a.failure, "a wire has come off"));
  CHECK(a.call(look) == 123);
  CHECK(tally::built == 2);
  CHECK(tally::done == 4);
  CHECK(a.call(append, 4) == 1234);
}

TEST_CASE("an actor that is saved after every second call does again only what it has done since") {
  one_actor a(1, 2);
  for (std::uint64_t i = 2; i <= 4; ++i) a.call(append, i);
  CHECK(tally::saved == 1);
  a.call(spoil);
  CHECK(a.call(look) == 1234);
  CHECK(tally::loaded == 1);
  CHECK(tally::done == 4);  // three, and one again
}

TEST_CASE("an actor whose save() throws keeps its calls, says so, and is saved the next time") {
  one_actor a(1, 2);
  tally::refuses_to_be_saved = true;
  a.call(append, 2);
  a.call(append, 3);
  CHECK(tally::saved == 0);
  CHECK(contains(a.world[a.rank()].run.unobserved.text("", " "), "no paper"));
  a.call(spoil);
  CHECK(a.call(look) == 123);
  tally::refuses_to_be_saved = false;
  a.call(append, 4);
  CHECK(tally::saved == 1);
  CHECK(a.call(look) == 1234);
}

TEST_CASE("an actor is built anew as often as it may be, and then ends; without restarts at once") {
  for (const int restarts : {0, 2}) {
    CAPTURE(restarts);
    one_actor a(restarts);
    for (int i = 0; i < restarts; ++i) {
      a.call(spoil);
      CHECK(a.call(look) == 1);
    }
    a.call(spoil);
    CHECK(a.call(look) == 0);
    CHECK(contains(a.failure, "a method found the actor broken: "));
    CHECK(contains(a.failure, restarts > 0 ? "it has been restarted 2 times, as often as it may be"
                                           : "with actor_options::restarts it would be built anew"));
  }
}

TEST_CASE("an actor that cannot be built anew ends, and its calls say why") {
  one_actor a(3);
  tally::refuses_to_be_built = true;
  a.call(spoil);
  CHECK(a.call(look) == 0);
  CHECK(contains(a.failure, "it could not be built anew after a method had found it broken"));
  CHECK(contains(a.failure, "no bricks"));
}

TEST_CASE("after the death of its rank an actor goes on elsewhere with its last checkpoint") {
  one_actor a(1, 2, true);
  for (std::uint64_t i = 2; i <= 3; ++i) a.call(append, i);
  CHECK(tally::saved == 1);
  const std::uint32_t before = a.rank();
  void* const lost = a.world[before].work.actors.at(actor_place_in(a.handle->bytes).slot).object;
  a.world.kill(before);
  a.world.run();
  REQUIRE(a.handle->state == state::ready);
  CHECK(a.rank() != before);
  CHECK(tally::loaded == 1);
  CHECK(a.call(look) == 123);
  tally_class.destroy(lost);
}
