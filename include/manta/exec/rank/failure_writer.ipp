// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/exec/rank/failure_writer.hpp"

namespace manta::exec {

/// A failure of this kind with this text.
MANTA_DECL store::failure_ptr failure_of_kind(enum store::failure::kind kind, std::string text) {
  store::failure f;
  f.kind = kind;
  f.message = std::move(text);
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr cancel_failure(std::string_view name, std::string_view who, rank_id where) {
  return failure_of_kind(store::failure::kind::cancelled,
                         base::text("task '{}' was cancelled by '{}' on rank {}", name, who, where));
}

/// "20 ms", "1.5 s"
inline std::string deadline_text(std::int64_t ns) {
  const auto exact = static_cast<double>(ns);
  return ns < 1'000'000'000 ? base::text("{} ms", exact / 1e6) : base::text("{} s", exact / 1e9);
}

MANTA_DECL store::failure_ptr timeout_failure(std::string_view name, std::int64_t deadline) {
  return failure_of_kind(
      store::failure::kind::timeout,
      base::text("task '{}' had not started when its deadline of {} was over; give it longer, or more ranks to run on",
                 name, deadline_text(deadline)));
}

MANTA_DECL store::failure_ptr call_timeout_failure(std::string_view method, std::int64_t deadline) {
  const std::string length = deadline == 0 ? "" : " of " + deadline_text(deadline);
  return failure_of_kind(store::failure::kind::timeout,
                         "the call of '" + std::string(method) + "' had not started when its deadline" + length +
                             " was over, since the actor was busy or its rank was; give it longer, or more actors");
}

MANTA_DECL store::failure_ptr unstarted_failure(const graph::task& t, bool expired) {
  const std::string_view name = running_task{t.id, t.function, t.attempt, t.request.get()}.name();
  if (expired && t.request == nullptr) return call_timeout_failure(name, 0);
  return expired ? timeout_failure(name, t.request->deadline) : cancel_failure(name, "its home", t.home_rank);
}

MANTA_DECL store::failure_ptr actor_failure(const std::string& why) {
  return failure_of_kind(store::failure::kind::actor, why);
}

MANTA_DECL store::failure_ptr busy_failure(std::string_view method, int most, rank_id here) {
  return failure_of_kind(
      store::failure::kind::busy,
      base::text(
          "'{}' was not taken: {} calls wait for the actor on rank {}, as many as actor_options::max_pending allows; "
          "wait for some of them first",
          method, most, here));
}

MANTA_DECL store::failure_ptr lost_call_failure(const std::string& broken_by) {
  store::failure f;
  f.kind = store::failure::kind::actor;
  f.message = "another method found the actor broken while this one waited, and what it did is lost: " + broken_by;
  f.actor_may_return = true;
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr leaving_failure(const std::string& why) {
  return failure_of_kind(store::failure::kind::cancelled,
                         "the task was not started, because the run has to end: " + why);
}

MANTA_DECL store::failure_ptr dropped_failure() {
  return failure_of_kind(store::failure::kind::cancelled,
                         "the task was dropped before it started, because the driver ended with an exception");
}

MANTA_DECL store::failure_ptr reservation_gone() {
  return failure_of_kind(
      store::failure::kind::unschedulable,
      "the task's reservation was released before the task started; keep it until its tasks have ended");
}

MANTA_DECL store::failure_ptr reservation_given_up() {
  return failure_of_kind(store::failure::kind::cancelled, "the reservation was given up before it was met");
}

MANTA_DECL store::failure_ptr gang_failure(const graph::node& n, const graph::bundles& reserved) {
  const graph::request& wanted = *n.record->request;
  const std::string nodes = wanted.nodes > 0 ? base::text(" of {} nodes", wanted.nodes) : "";
  return failure_of_kind(
      store::failure::kind::unschedulable,
      base::text(
          "the gang '{}' can never run: its {} members are on different ranks{}, and the bundles of its reservation "
          "that fit lie on fewer: {}; reserve bundles that take more of a rank, so that each gets one of its own, or "
          "with strategy spread",
          task_name(n), wanted.ranks, nodes, graph::describe(reserved)));
}

// --- failures that name this rank

MANTA_DECL void failure_writer::locate(store::failure& f, std::string_view function, std::uint32_t attempt) const {
  f.details.function = function;
  f.details.rank = static_cast<int>(rank_);
  f.details.host = store::host_name();
  f.details.attempt = static_cast<int>(attempt);
}

MANTA_DECL store::failure_ptr failure_writer::here(const running_task& task, bool reads_arguments) const {
  if (store::failure_ptr known = isolated_failure::current()) return known;
  store::failure f = store::current_failure();
  if (reads_arguments) f.kind = store::failure::kind::serialization;
  locate(f, task.name(), task.attempt);
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr failure_writer::codec(const char* function, std::string_view type) const {
  store::failure f = store::current_failure();
  f.kind = store::failure::kind::serialization;
  locate(f, std::string(function) + " of " + std::string(type));
  return store::share(std::move(f));
}
MANTA_DECL store::failure_ptr failure_writer::codec(const char* function, type_id type) const {
  return codec(function, wire::demangle(wire::type_at(type).mangled));
}

MANTA_DECL store::failure_ptr failure_writer::too_many_wait(const running_task& task, std::size_t waiting) const {
  store::failure f;
  f.details.type = "manta::error";
  f.details.what = base::text(
      "it was not begun, because {} tasks wait on this rank, each for one that began after it: is it a recursion "
      "without an end? If all are meant, raise runtime_options::max_waiting (MANTA_MAX_WAITING)",
      waiting);
  locate(f, task.name(), task.attempt);
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr failure_writer::of_input(graph::task& t) const {
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    graph::node& input = *t.inputs()[i];
    if (input.state != graph::state::failed || t.is_wish(i)) continue;
    input.set(graph::node::observed);
    store::failure why = *store::failure_of(input);
    store::add_dependent(why, std::string(running_task{t.id, t.function, t.attempt, t.request.get()}.name()));
    return store::share(std::move(why));
  }
  return nullptr;
}

MANTA_DECL store::failure_ptr failure_writer::store_is_full(const store::ledger& values) const {
  const auto in_words = [](std::uint64_t bytes) { return store::describe_bytes(bytes); };
  std::string text = base::text(
      "rank {} has no memory left for values: {} large ones take {} of its {} (MANTA_STORE_MEMORY), and none can be "
      "moved to a disk: {}; the largest:",
      rank_, values.values().size(), in_words(values.memory().charged()), in_words(values.memory().limit()),
      values.excess());
  values.values().largest(5, [&](const store::large& l) { text += " " + in_words(l.bytes) + " " + maker_of(l) + ","; });
  text += " ...; drop futures that are not needed, use more ranks, or name a folder with room (MANTA_SPILL_FOLDER)";
  return failure_of_kind(store::failure::kind::full, std::move(text));
}

// --- failures that tell of a death

MANTA_DECL store::failure_ptr failure_writer::death(enum store::failure::kind kind, rank_id dead,
                                                    const std::string& what, bool actor_may_return) const {
  store::failure f;
  f.kind = kind;
  f.message = what + members_.obituary_of(dead).why;
  f.details.rank = static_cast<int>(dead);
  f.actor_may_return = actor_may_return;
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr failure_writer::died_with(const graph::node& n, rank_id dead) const {
  return death(store::failure::kind::rank, dead, describe_task(n) + " died with its rank: ");
}

MANTA_DECL store::failure_ptr failure_writer::actor_died_with(rank_id dead, std::uint64_t call) const {
  store::failure f =
      *death(store::failure::kind::actor, dead, "the actor died with its rank before the call had ended: ", true);
  f.ran_there = members_.obituary_of(dead).culprit == call;
  return store::share(std::move(f));
}

MANTA_DECL store::failure_ptr failure_writer::was_there_too_often(const graph::node& n, std::uint64_t id) const {
  const membership::toll t = members_.toll_of(id);
  return death(
      store::failure::kind::rank, t.last,
      base::text("{} was on {} ranks when they died, and is not tried again; the last: ", describe_task(n), t.present));
}

MANTA_DECL store::failure_ptr failure_writer::orphan(const graph::node& n, const std::string& more) const {
  return death(store::failure::kind::object, n.links->rank,
               "a value is lost with its owner, the rank that put it or submitted its task" + more + ": ");
}

MANTA_DECL store::failure_ptr failure_writer::given_up(const graph::node& n, rank_id dead) const {
  const bool is_actor = n.has(graph::node::actor);
  return death(is_actor ? store::failure::kind::actor : store::failure::kind::object, dead,
               std::string(is_actor ? "the actor has ended" : "the value was given up") +
                   ", since the only rank that had a future or a handle of it has died: ");
}

MANTA_DECL store::failure_ptr failure_writer::nobody_left(const graph::node& n, bool but_rank_0) const {
  if (but_rank_0) {
    return death(
        store::failure::kind::rank, static_cast<std::uint32_t>(n.record->request->cost.rank),
        "no rank is left but rank 0, on which " + describe_task(n) + " does not run, for it was on one that died: ");
  }
  return failure_of_kind(
      store::failure::kind::unschedulable,
      "no rank is left that can run '" + std::string(task_name(n)) + "': " + members_.all_obituaries());
}

MANTA_DECL store::failure_ptr failure_writer::lost_member(const graph::gang& g) const {
  for (const std::uint32_t member : g.ranks) {
    if (members_.is_dead(member)) return death(store::failure::kind::rank, member, "a member of the gang was lost: ");
  }
  return nullptr;
}

MANTA_DECL store::failure_ptr failure_writer::of_member(const store::failure_ptr& why, const graph::gang& gang) const {
  if (gang.ranks.size() == 1) return why;
  if (store::failure_ptr lost = members_.deaths() == 0 ? nullptr : lost_member(gang)) return lost;
  store::failure f = *why;
  f.details.function += base::text(" (member {} of {})", gang.member, gang.ranks.size());
  return store::share(std::move(f));
}

}  // namespace manta::exec
