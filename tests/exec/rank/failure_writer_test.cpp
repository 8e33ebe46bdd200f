// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/rank/failure_writer.hpp, exec/rank/node_views.hpp: what nodes say of their tasks, and
// the failures that the engine gives to them.
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "manta/exec/rank/failure_writer.hpp"

using namespace manta::exec;
namespace graph = manta::graph;
namespace store = manta::store;
using kind = enum store::failure::kind;

namespace {

constexpr std::uint32_t here = 3, home_of_others = 5;

struct rank {
  membership members{8};
  failure_writer failures{here, members};
};

bool has(const store::failure_ptr& why, const char* text) { return why->message.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("a node is a task of this home until it has ended, and no stand-in is one") {
  graph::node n;
  n.function = 0;
  n.form = graph::form::compact;
  n.compact.id = 17;
  CHECK(is_task(n));
  CHECK(id_of(n) == 17);
  note_sent(n, 17, 2);
  CHECK(is_task(n));
  CHECK(id_of(n) == 17);
  CHECK(n.sent.at == 2);
  CHECK(n.sent.slot == graph::no_index);
  graph::link home;
  home.kind = graph::link_kind::home;
  n.links = &home;
  CHECK(is_stand_in(n));
  CHECK_FALSE(is_task(n));
  n.links = nullptr;
  n.state = graph::state::ready;
  CHECK_FALSE(is_task(n));
  CHECK(place_key_of(n, here) == 0);
}

TEST_CASE("tasks with the same id but another attempt or home have other keys") {
  const std::uint64_t key = place_key(17, 0, here, 4);
  CHECK(place_key(17, 0, here, 4) == key);
  CHECK(place_key(17, 1, here, 4) != key);
  CHECK(place_key(17, 0, home_of_others, 4) != key);
  CHECK(place_key(17, 0, here, 5) != key);
}

TEST_CASE("an actor's value says where the actor lives, and other values lie on their rank") {
  graph::node n;
  n.state = graph::state::ready;
  n.form = graph::form::plain;
  CHECK(place_of(n, here) == here);
  const actor_place lives{6, 1};
  std::memcpy(n.bytes, &lives, sizeof lives);
  n.set(graph::node::actor);
  CHECK(place_of(n, here) == 6);
  CHECK(actor_place_in(n.bytes).slot == 1);
  graph::node far;
  far.form = graph::form::remote;
  far.remote.place = 7;
  CHECK(place_of(far, here) == 7);
}

TEST_CASE("a value becomes an input so many times, which is told once") {
  graph::node n;
  n.missing = 3;
  CHECK(take_reached(n) == 3);
  CHECK(take_reached(n) == 0);
  n.missing = 0x10000;  // more than the message can tell: as if it were none
  CHECK(take_reached(n) == 0);
}

TEST_CASE("what a task has thrown is located: its function, its rank and its attempt") {
  const rank r;
  const running_task driver{1, graph::no_index, 2};
  try {
    throw std::runtime_error("no");
  } catch (...) {
    const store::failure_ptr why = r.failures.here(driver);
    CHECK(why->details.what == "no");
    CHECK(why->details.function == "the driver");
    CHECK(why->details.rank == static_cast<int>(here));
    CHECK(why->details.attempt == 2);
    CHECK(r.failures.here(driver, true)->kind == kind::serialization);
    CHECK(r.failures.codec("save()", std::string_view("grid"))->details.function == "save() of grid");
  }
}

TEST_CASE("a death is told with its reason, and the dead member of a gang is named") {
  rank r;
  graph::gang gang;
  gang.ranks.push_back(2);
  gang.ranks.push_back(4);
  gang.member = 1;
  store::failure of_it;
  of_it.details.function = "step";
  const store::failure_ptr thrown = store::share(std::move(of_it));
  CHECK(r.failures.lost_member(gang) == nullptr);
  CHECK(r.failures.of_member(thrown, gang)->details.function == "step (member 1 of 2)");
  r.members.note_death(4, {"rank 4 has died: of cold", 0, manta::net::end_by::unknown});
  const store::failure_ptr lost = r.failures.lost_member(gang);
  REQUIRE(lost != nullptr);
  CHECK(lost->kind == kind::rank);
  CHECK(lost->details.rank == 4);
  CHECK(has(lost, "a member of the gang was lost: rank 4 has died: of cold"));
  CHECK(has(r.failures.of_member(thrown, gang), "of cold"));
  const store::failure_ptr death = r.failures.death(kind::actor, 4, "the actor died: ", true);
  CHECK(death->actor_may_return);
  graph::link home;
  home.kind = graph::link_kind::home;
  home.rank = 4;
  graph::node orphan;
  orphan.links = &home;
  CHECK(r.failures.orphan(orphan, "; nobody has it")->kind == kind::object);
  CHECK(has(r.failures.orphan(orphan, "; nobody has it"), "its task; nobody has it: rank 4"));
  orphan.links = nullptr;
}

TEST_CASE("failures say what happened and what can be done") {
  CHECK(has(cancel_failure("step", "main", 2), "task 'step' was cancelled by 'main' on rank 2"));
  CHECK(cancel_failure("step", "main", 2)->kind == kind::cancelled);
  CHECK(has(timeout_failure("step", 2'500'000), "deadline of 2.5 ms was over"));
  CHECK(timeout_failure("step", 1)->kind == kind::timeout);
  CHECK(busy_failure("add", 4, here)->kind == kind::busy);
  CHECK(has(busy_failure("add", 4, here), "'add' was not taken: 4 calls wait for the actor on rank 3"));
  CHECK(lost_call_failure("it broke")->actor_may_return);
  CHECK(has(leaving_failure("SIGTERM has come"), "has to end: SIGTERM has come"));
  CHECK(dropped_failure()->kind == kind::cancelled);
  CHECK(reservation_gone()->kind == kind::unschedulable);
  CHECK(reservation_given_up()->kind == kind::cancelled);
  CHECK(rank().failures.too_many_wait(running_task{1, graph::no_index}, 9)->details.what.find("9 tasks wait") !=
        std::string::npos);
}
