// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/recovery.hpp: values and actors whose rank has died are made again by
// the tasks that had made them, or fail with a reason. The families of handles are
// tried on several ranks by tests/restart_test.cpp and tests/survive.
#include <doctest/doctest.h>

#include <vector>

#include "../../support/noting_rank.hpp"

using namespace manta::exec;
namespace store = manta::store;
using kind = enum store::failure::kind;

namespace {

constexpr std::uint32_t far = 1;

struct rank : noting_rank {
  rank() : noting_rank(3) { its.rank.members.set_recovers(); }
  /// The task that constructs an actor, which may restart once.
  node& submit_actor() {
    auto* const wanted = new manta::graph::request;
    wanted->actor = true;
    wanted->restarts = 1;
    node& n = submit(17, wanted);
    n.set(node::actor);
    return n;
  }
  /// The result of a task has come from the other rank, where the value stays.
  node& ended_there(std::uint64_t id) {
    node& n = submit(id, nullptr);
    const result_message m{n.index, 0, 0, static_cast<std::uint8_t>(form::remote), 0, 0};
    REQUIRE(recovery.keep_lineage(n, m));
    completion.lies_at(n, far, 5000);
    refs.release(n);  // the engine's own
    return n;
  }
  void die() { its.rank.members.note_death(far, {"rank 1 has died: of cold", 0, manta::net::end_by::unknown}); }
};

}  // namespace

TEST_CASE("a value that lay on a dead rank is made again by its task") {
  rank r;
  node& n = r.ended_there(17);
  REQUIRE(n.state == state::ready);
  r.die();
  r.recovery.value_lost(n, far);
  REQUIRE(r.started == std::vector<std::uint32_t>{n.index});
  CHECK(n.state == state::pending);
  REQUIRE(n.form == form::record);
  CHECK(n.record->id == 17);
  CHECK(n.refs.load() == 2);  // the handle, and the engine until the task has ended
}

TEST_CASE("a value whose task is not known any more is lost, and says so") {
  rank r;
  node& n = r.ended_there(17);
  n.function = manta::graph::no_index;
  r.recovery.forget_lineage(n);
  r.die();
  r.recovery.value_lost(n, far);
  REQUIRE(n.state == state::failed);
  CHECK(store::failure_of(n)->kind == kind::object);
  CHECK(store::failure_of(n)->message.find("of cold") != std::string::npos);
  CHECK(r.started.empty());
}

TEST_CASE("an answer that a dead rank owes fails") {
  rank r;
  node& ticket = r.refs.make_node(manta::graph::no_index, 0, 2);
  r.die();
  r.recovery.value_lost(ticket, far);
  REQUIRE(ticket.state == state::failed);
  CHECK(store::failure_of(ticket)->kind == kind::rank);
  ticket.set(node::observed);
}

TEST_CASE("an actor is made again as often as its options allow, from its last checkpoint") {
  rank r;
  node& n = r.submit_actor();
  const actor_place lives{far, 4};
  const auto constructed = [&] {
    const result_message m{n.index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0};
    CHECK(r.recovery.keep_lineage(n, m));
    store::set_plain(n, reinterpret_cast<const std::byte*>(&lives), sizeof lives);
    r.completion.complete(n);
    r.refs.release(n);
  };
  constructed();
  r.recovery.on_checkpoint({0, n.index, 0}, reinterpret_cast<const std::byte*>("state"), 5);
  r.die();
  r.recovery.value_lost(n, far);
  REQUIRE(r.started.size() == 1);
  CHECK(n.record->attempt == 1);
  CHECK(n.record->request->checkpoint == "state");
  constructed();
  r.recovery.value_lost(n, far);
  CHECK(r.started.size() == 1);
  REQUIRE(n.state == state::failed);
  CHECK(store::failure_of(n)->kind == kind::actor);
  CHECK(store::failure_of(n)->message.find("restarted 1 times") != std::string::npos);
}

TEST_CASE("an actor that has ended is not kept") {
  rank r;
  node& n = r.submit_actor();
  CHECK(r.recovery.keep_lineage(n, {n.index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0}));
  CHECK(r.its.values.lineage.task_of(n) != nullptr);
  r.recovery.on_checkpoint({0, n.index, 0}, nullptr, 0);
  CHECK(r.its.values.lineage.task_of(n) == nullptr);
}
