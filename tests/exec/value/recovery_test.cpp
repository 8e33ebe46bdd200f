// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/value/recovery.hpp: values and actors whose rank has died are made again by
// the tasks that had made them, or fail with a reason. The families of handles are
// tried on several ranks by tests/restart_test.cpp and tests/survive.
#include <doctest/doctest.h>

#include <vector>

#include "../../support/home_rank.hpp"
#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/value/fetches.ipp"
#include "manta/exec/value/incoming_values.ipp"
#include "manta/exec/value/recovery.ipp"
#include "manta/exec/value/supply.ipp"
#include "manta/exec/value/task_records.ipp"

using namespace manta::exec;
namespace store = manta::store;
using kind = enum store::failure::kind;

namespace {

constexpr std::uint32_t far = 1;

struct rank : home_rank {
  explicit rank(block_world& world)
      : home_rank(world, 0, 3),
        records(own, received, {this, [](void*, node&, rank_id, std::uint64_t) {}}),
        held(own, ends, {this, [](void*, rank_id, const pull_message&) {}}),
        fetching(own, ends, held, made_by,
                 {this, [](void*, node&) { return false; },
                  [](void*, manta::exec::node_place) { return manta::exec::slot_index(manta::graph::no_index); }}),
        recovery(own, made_by, records, ends, fetching,
                 {this, [](void* self, node& n) { static_cast<rank*>(self)->started.push_back(n.index); }}) {
    members.set_recovers();
  }
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
    ends.lies_at(n, far, 5000);
    refs.release(n);  // the engine's own
    return n;
  }
  void die() { members.note_death(far, {"rank 1 has died: of cold", 0, manta::net::end_by::unknown}); }

  staging received;
  task_records<block_loopback> records;
  supply<block_loopback> held;
  fetches<block_loopback> fetching;
  manta::exec::recovery<block_loopback> recovery;
  std::vector<std::uint32_t> started;
};

}  // namespace

TEST_CASE("a value that lay on a dead rank is made again by its task") {
  block_world world(3);
  rank r(world);
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
  block_world world(3);
  rank r(world);
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
  block_world world(3);
  rank r(world);
  node& ticket = r.refs.make_node(manta::graph::no_index, 0, 2);
  r.die();
  r.recovery.value_lost(ticket, far);
  REQUIRE(ticket.state == state::failed);
  CHECK(store::failure_of(ticket)->kind == kind::rank);
  ticket.set(node::observed);
}

TEST_CASE("an actor is made again as often as its options allow, from its last checkpoint") {
  block_world world(3);
  rank r(world);
  node& n = r.submit_actor();
  const actor_place lives{far, 4};
  const auto constructed = [&] {
    const result_message m{n.index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0};
    CHECK(r.recovery.keep_lineage(n, m));
    store::set_plain(n, reinterpret_cast<const std::byte*>(&lives), sizeof lives);
    r.ends.complete(n);
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
  block_world world(3);
  rank r(world);
  node& n = r.submit_actor();
  CHECK(r.recovery.keep_lineage(n, {n.index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0}));
  CHECK(r.made_by.task_of(n) != nullptr);
  r.recovery.on_checkpoint({0, n.index, 0}, nullptr, 0);
  CHECK(r.made_by.task_of(n) == nullptr);
}
