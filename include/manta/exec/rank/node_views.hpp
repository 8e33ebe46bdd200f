// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a node says of its task, its value or its actor. A node has several roles
// (graph/node.hpp), and its fields mean something else in each: these functions
// give the meanings names. They look at one node, or write one; none sends.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "manta/base/hash.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/task.hpp"
#include "manta/store/ledger.hpp"
#include "manta/store/value.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::exec {

/// Where an actor lives, as the plain value of its handle's node.
struct actor_place {
  rank_id rank;
  slot_index slot;
};

/// The place of an actor that has been constructed, by the bytes of a handle's node or of a result.
inline actor_place actor_place_in(const void* bytes) {
  actor_place place;
  std::memcpy(&place, bytes, sizeof place);
  return place;
}

// --- proxies and tasks

/// Does the node stand for an object of another home?
inline bool is_stand_in(const graph::node& n) { return n.links != nullptr && n.links->kind == graph::link_kind::home; }
/// A node of a rank.
struct node_place {
  rank_id rank;
  node_index index;
};
/// Is the node a task or call of this home that has not ended?
inline bool is_task(const graph::node& n) {
  return n.state == graph::state::pending && n.function != graph::no_index && !is_stand_in(n);
}
/// The id of a task of this home that has not ended.
inline std::uint64_t id_of(const graph::node& n) {
  return n.form == graph::form::compact ? n.compact.id : n.form == graph::form::record ? n.record->id : n.sent.id;
}
/// Is the node still this task, which has a record and has not ended?
inline bool is_waiting(const graph::node& n, const task_place& p) {
  return is_task(n) && n.form == graph::form::record && n.record->id == p.id;
}
/// The task or call has been sent to a rank. `call`: it waits for its actor's place.
inline void note_sent(graph::node& n, std::uint64_t id, rank_id to, slot_index slot = graph::no_index,
                      graph::task* call = nullptr) {
  n.form = graph::form::none;
  n.sent = {id, to, slot, {call}};
}
/// Keeps the arguments of a compact task that has been sent, in case its rank dies.
inline void keep_arguments(graph::node& n, const std::byte* arguments, std::size_t bytes) {
  n.size = static_cast<std::uint8_t>(bytes);
  std::memcpy(&n.sent.kept, arguments, bytes);
}
/// A compact task has been sent; `keep`: its rank may die.
inline void note_compact_sent(graph::node& n, rank_id to, bool keep) {
  std::byte arguments[sizeof n.sent.kept];
  if (keep) std::memcpy(arguments, n.compact.arguments, sizeof arguments);
  note_sent(n, n.compact.id, to);
  if (keep) keep_arguments(n, arguments, n.size);
}
/// The number of inputs that this value becomes as it ends where tasks were sent ahead of it; it is counted once.
inline std::uint16_t take_reached(graph::node& expected) {
  const std::uint32_t count = std::exchange(expected.missing, 0);
  return count > 0xffff ? std::uint16_t{0} : static_cast<std::uint16_t>(count);
}
/// The name of a task in messages.
inline std::string_view task_name(const graph::node& n) {
  if (n.form == graph::form::record && n.record->request != nullptr && !n.record->request->name.empty()) {
    return n.record->request->name;
  }
  return wire::function_at(n.function).name();
}
/// The name of a task, and its function if that is another one.
inline std::string describe_task(const graph::node& n) {
  const std::string name(task_name(n));
  const std::string function(n.function == graph::no_index ? std::string_view() : wire::function_at(n.function).name());
  return "'" + name + "'" + (function.empty() || function == name ? "" : " (function " + function + ")");
}
/// Why a task without options is where rank 0 has sent it.
inline graph::placement_reason why_there(const graph::node& n) {
  using reason = graph::placement_reason;
  if (n.form == graph::form::record) {
    return n.record->request != nullptr ? reason::none : n.record->ahead ? reason::ahead : reason::room;
  }
  if (n.sent.slot != graph::no_index) return reason::none;  // a call
  return n.size == 0 && n.sent.near_bytes != 0 ? reason::data : reason::room;
}
/// May a member of a gang wait for this task? See graph::request.
inline bool is_for_member(const graph::node& n) {
  return n.form == graph::form::record && n.record->request != nullptr && n.record->request->for_member;
}

/// The key of a task in the tables of rank 0. The id alone is not enough: a task that runs again, as another attempt or
/// because its rank has died, submits again what it has submitted before, under the same ids.
inline std::uint64_t place_key(std::uint64_t id, std::uint16_t attempt, rank_id home_rank, node_index home_index) {
  const std::uint64_t home = static_cast<std::uint64_t>(home_rank) << 32 | home_index;
  const std::uint64_t mixed = base::mix(base::mix(id + attempt) + home);
  return mixed == base::index_table::no_key ? 0 : mixed;
}
/// The key of a task, by its record or by a message about it.
template <class Task>
std::uint64_t place_key(const Task& t) {
  return place_key(t.id, t.attempt, t.home_rank, t.home_index);
}
/// The key of the task of a node of the rank `here`; 0 if the node is no task.
inline std::uint64_t place_key_of(const graph::node& n, rank_id here) {
  if (!is_task(n)) return 0;
  return n.form == graph::form::record ? place_key(*n.record) : place_key(id_of(n), 0, here, n.index);
}

// --- tickets

/// Tells a ticket from the node of an input that is to be made here, whose `missing` counts the tasks that wait for it.
inline constexpr std::uint32_t ticket_bit = std::uint32_t{1} << 31;
/// The node waits for an answer of the rank `asked`.
inline void note_asked(graph::node& n, rank_id asked) { n.missing = ticket_bit | asked; }
/// Is the node, which is not a task and has not ended, a ticket for a question to this rank?
inline bool is_ticket_for(const graph::node& n, std::uint32_t asked) { return n.missing == (ticket_bit | asked); }

// --- the inputs of a task

/// Are all inputs on this rank? They may have gone since they came: see ledger::make_room.
inline bool has_inputs_here(graph::task& t) {
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    if (!store::is_here(*t.inputs()[i])) return false;
  }
  return true;
}
/// Has one of the inputs failed?
inline bool has_failed_input(graph::task& t) {
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    if (t.inputs()[i]->state == graph::state::failed && !t.is_wish(i)) return true;
  }
  return false;
}
/// Has the task of this node an input that takes much memory?
inline bool takes_large(const graph::node& n) {
  if (n.form != graph::form::record) return false;
  for (std::uint32_t i = 0; i < n.record->seen_inputs(); ++i) {
    const graph::node& input = *n.record->inputs()[i];
    const bool is_elsewhere = input.form == graph::form::remote;
    if ((is_elsewhere ? input.remote.bytes : store::known_bytes(input)) >= store::large_bytes) return true;
  }
  return false;
}

// --- values

/// The rank where the value of an ended node of the rank `here` lies, or where the actor lives whose handle it is.
inline rank_id place_of(const graph::node& n, rank_id here) {
  if (n.form == graph::form::remote) return n.remote.place;
  if (!n.has(graph::node::actor) || n.form != graph::form::plain) return here;
  return actor_place_in(n.bytes).rank;
}
/// The maker of a large value, in words.
inline std::string maker_of(const store::large& l) {
  if (l.function == graph::no_index) return "put by the driver, or received";
  return "made by '" + std::string(wire::function_at(l.function).name()) + "'";
}

}  // namespace manta::exec
