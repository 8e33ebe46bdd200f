// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors with names. Rank 0 is the home of each of them, whoever has spawned
// it: the actor outlives the rank of its spawner. names.hpp is rank 0's table;
// here stand what other ranks ask of rank 0, and its answers.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Asks rank 0, and waits for its answer. `id`: of the task that is to construct it; 0 to find it only.
MANTA_DECL engine::name_state engine::ask_name(const std::string& name, const char* type, std::uint64_t id) {
  node& ticket = make_ticket(0);
  const name_message m{id, ticket.index, rank(), static_cast<std::uint32_t>(name.size()), 0};
  const std::string tail = name + type;
  post_.send(0, message::name_ask, m, tail.data(), tail.size());
  const wire::buffer bytes = answer_to(ticket);
  name_answer_message answer;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  if (answer.what == names::verdict::wrong_type) {
    const std::string other(reinterpret_cast<const char*>(bytes.data()) + sizeof answer, bytes.size() - sizeof answer);
    throw name_error("manta: the actor named \"" + name + "\" is a " + wire::demangle(other.c_str()) + ", not a " +
                         wire::demangle(type) + "; ask for it with its own type or choose another name",
                     name_error::reason::other_class);
  }
  const bool is_there = answer.what == names::verdict::found || answer.what == names::verdict::found_own;
  return {is_there ? &handle_of(answer) : nullptr, id, answer.what == names::verdict::found_own};
}
MANTA_DECL node& engine::handle_of(const name_answer_message& answer) {
  node& handle = refs_.import_reference(answer.reference, wire::type_index<std::uint64_t>::value);
  handle.set(node::actor);
  return handle;
}
/// A task that runs again claims again what it has claimed: its actor may have outlived it.
MANTA_DECL engine::name_state engine::claim_name(const std::string& name, const char* type) {
  return ask_name(name, type, running_->next_child());
}

MANTA_DECL node& engine::submit_named(const name_state& claimed, std::uint32_t function, const std::byte* arguments,
                                      std::size_t bytes, node* const* inputs, std::uint32_t input_count,
                                      graph::request_ptr request) {
  if (running_->stops_children || (phase_.is_stopping() && departure_.is_leaving())) [[unlikely]] {
    give_up_name(request->name);
    node& n = refs_.make_node(function, wire::type_index<std::uint64_t>::value, 2);
    n.set(node::actor);
    return refuse_child(n, claimed.id, inputs, input_count, stopped_child(n));
  }
  if (rank() == 0) {
    return begin_named(records_.make(claimed.id, function, arguments, bytes, inputs, input_count, std::move(request)));
  }
  node& ticket = make_ticket(0);
  const task_message m{claimed.id, function, rank(), ticket.index, 0, static_cast<std::uint32_t>(bytes), 0, 0, 0};
  records_.send(0, message::name_spawn, m, request.get(), arguments, bytes, inputs, input_count);
  for (std::uint32_t i = 0; i < input_count; ++i) refs_.release(*inputs[i]);
  return ticket;
}
MANTA_DECL node& engine::named_handle(node& submitted) {
  if (submitted.function != no_index) return submitted;
  const wire::buffer bytes = answer_to(submitted);
  name_answer_message answer;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  return handle_of(answer);
}

MANTA_DECL node& engine::begin_named(task* t) {
  node& n = refs_.make_node(t->function, wire::type_index<std::uint64_t>::value, 2);
  n.set(node::actor);
  t->home_rank = rank();
  t->home_index = n.index;
  n.form = form::record;
  n.record = t;
  names_.set(t->request->name, n.index);
  if (t->request->detached) detach(n);
  answer_names();
  start_when_possible(n);
  return n;
}
MANTA_DECL void engine::on_name_spawn(std::uint32_t from, const std::byte* data) {
  task* const t = records_.read(from, data);
  name_answer_message answer{t->home_index, names::verdict::found, {}};
  t->slot = no_index;
  t->hidden = t->request->hidden_inputs();
  if (members_.recovers() && t->request->restarts > 0) {  // the spawner's rank may have died when they are needed again
    for (std::uint32_t i = 0; i < t->seen_inputs(); ++i) fetches_.fetch(*t->inputs()[i]);
  }
  node& n = begin_named(t);
  answer.reference = refs_.export_reference(n);
  post_.send(from, message::name_answer, answer);
  refs_.release(n);
}

MANTA_DECL void engine::detach(node& handle) {
  refs_.hold(handle);
  detached_.push_back(&handle);
}

MANTA_DECL void engine::give_up_name(const std::string& name) {
  post_.send(0, message::name_gone, index_message{0, 0}, name.data(), name.size());
}

/// Waits until rank 0 has given the actor's name free, unless it is clear that it has none.
MANTA_DECL void engine::free_name_of(const node& handle) {
  const auto [home_rank, home_index] = refs_.home_of(handle);
  if (home_rank != 0 || (rank() == 0 && !names_.has(home_index))) return;
  ask(0, ask_message{ask_message::free_name, 0, 0, home_rank, home_index, 0, 0});
}

// --- rank 0

MANTA_DECL void engine::on_name_ask(const std::byte* data, std::size_t bytes) {
  name_message m;
  std::memcpy(&m, data, sizeof m);
  const char* const text = reinterpret_cast<const char*>(data) + sizeof m;
  const std::string type(text + m.name_bytes, bytes - sizeof m - m.name_bytes);
  names_.ask({std::string(text, m.name_bytes), type, m.id, m.asker, m.ticket});
  answer_names();
}

/// A spawner has claimed the name in vain.
MANTA_DECL void engine::on_name_gone(std::uint32_t from, std::string_view name) {
  names_.give_up(name, from);
  answer_names();
}

MANTA_DECL void engine::answer_names() {
  while (names_.has_questions()) {
    const names::reply r = names_.answer(state_of_named(names_.handle_in_question()));
    if (r.what == names::verdict::waits) continue;
    name_answer_message answer{r.ticket, r.what, {}};
    if (r.handle != no_index) answer.reference = refs_.export_reference(graph_.nodes.at(r.handle));
    post_.send(r.asker, message::name_answer, answer, r.type.data(), r.type.size());
  }
}

MANTA_DECL names::actor_state engine::state_of_named(std::uint32_t handle) {
  if (handle == no_index) return names::actor_state::kept;
  const node& n = graph_.nodes.at(handle);
  if (n.state == state::failed) return names::actor_state::dead;
  const bool is_unwanted = n.state == state::pending && n.refs.load(std::memory_order_acquire) == 1;
  return is_unwanted ? names::actor_state::unwanted : names::actor_state::kept;
}

MANTA_DECL void engine::free_name_of_ended(const std::string& name, actor_place where) {
  if (names_.free_ended(name, {where.rank, where.slot})) return answer_names();
  const std::uint32_t handle = name.empty() ? no_index : names_.handle_of(name);
  if (handle == no_index) return;
  const node& n = graph_.nodes.at(handle);
  const actor_place its = actor_place_in(n.bytes);
  if (n.state != state::ready || its.rank != where.rank || its.slot != where.slot) return;
  names_.free(handle);
  answer_names();
}

}  // namespace manta::exec
