// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/exec/home/named_actors.hpp"

namespace manta::exec {

MANTA_DECL name_state named_actors::ask(const std::string& name, const char* type, std::uint64_t id) {
  node& ticket = below_.tickets.make(0);
  const name_message m{id, ticket.index, own_.rank, static_cast<std::uint32_t>(name.size()), 0};
  const std::string tail = name + type;
  own_.post.send(0, message::name_ask, m, tail.data(), tail.size());
  const wire::buffer bytes = below_.tickets.wait(ticket);
  name_answer_message answer;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (answer.what == names::verdict::wrong_type) {
    const std::string other(reinterpret_cast<const char*>(bytes.data()) + sizeof answer, bytes.size() - sizeof answer);
    throw name_error("manta: the actor named \"" + name + "\" is a " + wire::demangle(other.c_str()) + ", not a " +
                         wire::demangle(type) + "; ask for it with its own type or choose another name",
                     name_error::reason::other_class);
  }
  const bool is_there = answer.what == names::verdict::found || answer.what == names::verdict::found_own;
  return {is_there ? &import(answer) : nullptr, id, answer.what == names::verdict::found_own};
}

MANTA_DECL node& named_actors::import(const name_answer_message& answer) {
  node& handle = own_.refs.import_reference(answer.reference, wire::type_index<std::uint64_t>::value);
  handle.set(node::actor);
  return handle;
}

MANTA_DECL name_state named_actors::claim(const std::string& name, const char* type) {
  return ask(name, type, below_.running->next_child());
}

MANTA_DECL node& named_actors::submit(const name_state& claimed, function_id function, const task_arguments& given,
                                      graph::request_ptr request) {
  if (below_.withdrawal.refuses_children()) [[unlikely]] {
    // The name was claimed before; others wait for it, and this actor will not come.
    give_up(request->name);
    node& n = own_.refs.make_node(function, wire::type_index<std::uint64_t>::value, 2);
    n.set(node::actor);
    return below_.withdrawal.refuse_child(n, claimed.id, given, below_.withdrawal.stopped_child(n));
  }
  if (own_.rank == 0) {
    return begin(below_.records.make(claimed.id, function, given, std::move(request)));
  }
  node& ticket = below_.tickets.make(0);
  const auto bytes = static_cast<std::uint32_t>(given.bytes);
  // Rank 0 is the home of all named actors, so they outlive the rank that spawned them. The answer to
  // the ticket names the handle.
  const task_message m{claimed.id, function, own_.rank, ticket.index, 0, bytes, 0, 0, 0};
  below_.records.send(0, message::name_spawn, m, given, {.request = request.get()});
  for (std::uint32_t i = 0; i < given.input_count; ++i) own_.refs.release(*given.inputs[i]);
  return ticket;
}

MANTA_DECL node& named_actors::handle_of(node& submitted) {
  // On rank 0 begin() has returned the handle itself, not a ticket.
  if (submitted.function != no_index) return submitted;
  const wire::buffer bytes = below_.tickets.wait(submitted);
  name_answer_message answer;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  return import(answer);
}

MANTA_DECL node& named_actors::begin(task* t) {
  node& n = own_.refs.make_node(t->function, wire::type_index<std::uint64_t>::value, 2);
  n.set(node::actor);
  t->home_rank = own_.rank;
  t->home_index = n.index;
  n.form = form::record;
  n.record = t;
  names_.set(t->request->name, n.index);
  if (t->request->rules.detached) detach(n);
  answer();
  others_.start(others_.rank, n);
  return n;
}

MANTA_DECL void named_actors::on_spawn(rank_id from, const std::byte* data) {
  task* const t = below_.records.read(from, data);
  name_answer_message answer{t->home_index, names::verdict::found, {}};
  t->slot = no_index;
  t->hidden = t->request->hidden_inputs();
  if (own_.members.recovers() &&
      t->request->restarts > 0) {  // the spawner's rank may have died when they are needed again
    for (std::uint32_t i = 0; i < t->seen_inputs(); ++i) below_.fetches.fetch(*t->inputs()[i]);
  }
  node& n = begin(t);
  // The spawner is counted before this rank lets go, so that the actor does not end in between.
  answer.reference = own_.refs.export_reference(n);
  own_.post.send(from, message::name_answer, answer);
  own_.refs.release(n);
}

MANTA_DECL void named_actors::detach(node& handle) {
  own_.refs.hold(handle);
  detached_.push_back(&handle);
}

MANTA_DECL void named_actors::give_up(const std::string& name) {
  own_.post.send(0, message::name_gone, index_message{0, 0}, name.data(), name.size());
}

MANTA_DECL void named_actors::free_name_of(const node& handle) {
  const auto [home_rank, home_index] = own_.refs.home_of(handle);
  // Named actors have their home on rank 0; any other handle is of an actor without a name.
  if (home_rank != 0 || (own_.rank == 0 && !names_.has(home_index))) return;
  below_.tickets.ask(0, ask_message{ask_message::free_name, 0, 0, home_rank, home_index, 0, 0});
}

MANTA_DECL void named_actors::on_ask(const std::byte* data, std::size_t bytes) {
  name_message m;
  std::memcpy(&m, data, sizeof m);
  const char* const text = reinterpret_cast<const char*>(data) + sizeof m;
  const std::string type(text + m.name_bytes, bytes - sizeof m - m.name_bytes);
  names_.ask({std::string(text, m.name_bytes), type, m.id, m.asker, m.ticket});
  answer();
}

MANTA_DECL void named_actors::on_gone(rank_id from, std::string_view name) {
  names_.give_up(name, from);
  answer();
}

MANTA_DECL void named_actors::answer() {
  while (names_.has_questions()) {
    const names::reply r = names_.answer(state_of(names_.handle_in_question()));
    // The table keeps this question and puts it in line again when the name is set or free.
    if (r.what == names::verdict::waits) continue;
    name_answer_message answer{r.ticket, r.what, {}};
    if (r.handle != no_index) answer.reference = own_.refs.export_reference(own_.graph.nodes.at(r.handle));
    own_.post.send(r.asker, message::name_answer, answer, r.type.data(), r.type.size());
  }
}

MANTA_DECL names::actor_state named_actors::state_of(node_index handle) const {
  if (handle == no_index) return names::actor_state::kept;
  const node& n = own_.graph.nodes.at(handle);
  if (n.state == state::failed) return names::actor_state::dead;
  // The engine's own reference alone is left until the constructor has ended.
  const bool is_unwanted = n.state == state::pending && n.refs.load(std::memory_order_acquire) == 1;
  return is_unwanted ? names::actor_state::unwanted : names::actor_state::kept;
}

MANTA_DECL void named_actors::on_actor_gone(const std::string& name, actor_place where) {
  if (names_.free_ended(name, {where.rank, where.slot})) return answer();
  const std::uint32_t handle = name.empty() ? no_index : names_.handle_of(name);
  if (handle == no_index) return;
  const node& n = own_.graph.nodes.at(handle);
  const actor_place its = actor_place_in(n.bytes);
  // An actor that was built anew elsewhere has the same handle; only the end of the present one frees the name.
  if (n.state != state::ready || its.rank != where.rank || its.slot != where.slot) return;
  names_.free(handle);
  answer();
}

MANTA_DECL void named_actors::attach(node& handle) {
  if (detached_.remove(&handle)) own_.refs.release(handle);
}

MANTA_DECL void named_actors::attach_all() {
  while (!detached_.empty()) {
    node& handle = *detached_.back();
    detached_.pop_back();
    own_.refs.release(handle);
  }
}

MANTA_DECL bool named_actors::free(node_index handle) {
  if (!names_.free(handle)) return false;
  answer();
  return true;
}

MANTA_DECL void named_actors::handle_gone(const node& handle) {
  const actor_place place = handle.state == state::ready ? actor_place_in(handle.bytes) : actor_place{no_index, 0};
  if (place.rank != no_index && !own_.members.is_dead(place.rank)) {
    // With a journal the next actor of this name begins with this one's state, which is complete
    // only when this one has ended.
    names_.keep_until_end(handle.index, {place.rank, place.slot});
  }
  free(handle.index);
}

MANTA_DECL void named_actors::rank_died(rank_id dead) {
  names_.rank_died(dead);
  answer();
}

}  // namespace manta::exec
