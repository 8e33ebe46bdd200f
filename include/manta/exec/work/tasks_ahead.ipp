// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/tasks_ahead.hpp"

namespace manta::exec {

MANTA_DECL rank_id tasks_ahead::where_inputs_are_made(const task& t) const {
  constexpr std::uint32_t most_inputs = 8;
  // A task with conditions needs rank 0's choice when it starts, not now. With many inputs the search below would cost
  // more than the round trip that it saves.
  if (t.request != nullptr || t.ahead || t.input_count > most_inputs) return no_index;
  std::uint32_t there = no_index;
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    const node& input = *const_cast<task&>(t).inputs()[i];
    if (input.state == state::ready) continue;
    // Rank 0 does not know where a value of another home is being made, and an actor is no value that
    // a task finds on the spot.
    if (!is_task(input) || input.has(node::actor)) return no_index;
    std::uint32_t at = no_index;
    // A plain task keeps no record once it has been sent; one that was sent ahead, or that a
    // death may bring back, does.
    if (input.form == form::none && input.sent.slot == no_index) at = input.sent.at;
    if (input.form == form::record && input.record->place == graph::place::elsewhere &&
        (input.record->ahead || (own_.members.recovers() && input.record->request == nullptr))) {
      at = input.record->caller;
    }
    // Inputs from two executors would have to travel, so the task gains nothing by being on one of them.
    if (at == no_index || at == own_.rank || (there != no_index && at != there)) return no_index;
    there = at;
  }
  return there;
}

MANTA_DECL void tasks_ahead::send(node& n) {
  if (below_.scheduler == nullptr || own_.size == 1) return;
  const std::uint32_t to = where_inputs_are_made(*n.record);
  if (to != no_index && !send_to(n, to)) waiting_.add(to, {n.record->id, n.index});
}

MANTA_DECL bool tasks_ahead::send_to(node& n, rank_id to) {
  task& t = *n.record;
  std::uint32_t charge = 0;
  if (!below_.scheduler->take_room_on(to, n.function, charge)) return false;
  t.ahead = true;
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    node& input = *t.inputs()[i];
    if (input.state != state::pending) continue;
    // The input no longer starts this task here; the new link tells what the input has to do when it ends.
    if (n.missing != 0) own_.graph.remove_dependent(input, n.index);
    link& l = own_.graph.add_link(input, link_kind::ahead);
    l.rank = to;
    l.index = n.index;
    l.id = t.id;
  }
  n.missing = 0;
  const task_message m{t.id,   t.function,       own_.rank, n.index,
                       charge, t.argument_bytes, t.attempt, task_message::by_scheduler | task_message::ahead,
                       0};
  below_.records.send(to, message::run, m, arguments_of(t), {nullptr, nullptr, t.digest});
  below_.elsewhere.note_sent();
  below_.elsewhere.note_ahead();
  t.place = graph::place::elsewhere;
  t.caller = to;
  // A whole chain goes at once: the tasks that wait for this one can now be sent ahead too.
  if (n.links != nullptr) follow(n, to);
  return true;
}

MANTA_DECL void tasks_ahead::follow(node& n, rank_id to) {
  constexpr int most_dependents = 16;
  int count = 0;
  for (link* l = n.links; l != nullptr && count < most_dependents; l = l->next) {
    if (l->kind != link_kind::input) continue;
    graph::task_graph::visit_dependents(*l, [&](node_index index) {
      node& dependent = own_.graph.nodes.at(index);
      // These tasks are only listed, not sent: to send them here would recurse along the chain.
      if (dependent.form == form::record && where_inputs_are_made(*dependent.record) == to) {
        waiting_.add(to, {dependent.record->id, dependent.index});
      }
      return ++count < most_dependents;
    });
  }
}

MANTA_DECL void tasks_ahead::send_waiting() {
  waiting_.send_on([&](rank_id to, const task_place& next) {
    node& n = own_.graph.nodes.at(next.index);
    if (!is_waiting(n, next) || n.missing == 0) return true;
    if (where_inputs_are_made(*n.record) == to) return send_to(n, to);
    // Its inputs are made on another rank now, since the list was written.
    send(n);
    return true;
  });
}

MANTA_DECL void tasks_ahead::note_reached(node& n, rank_id from, std::uint32_t reached, std::uint64_t bytes) {
  std::uint32_t sent = 0;
  for (const link* l = n.links; l != nullptr; l = l->next) sent += l->kind == link_kind::ahead && l->rank == from;
  // If the executor reached fewer tasks than were sent ahead, some came after the result: the home sends the value to
  // all of them, which does no harm to those that have it.
  if (sent == 0 || sent != reached) return;
  for (link** at = &n.links; *at != nullptr;) {
    link* const l = *at;
    if (l->kind == link_kind::ahead && l->rank == from) {
      *at = l->next;
      own_.counts.note_edge(n.function, own_.graph.nodes.at(l->index).function, bytes);
      own_.graph.links.free(l);
    } else {
      at = &l->next;
    }
  }
}

MANTA_DECL void tasks_ahead::send_after(const link& l, node& input) {
  below_.supply.tell_value({l.rank, input.index}, input, message::made);
  if (input.state != state::failed) return;
  node& dependent = own_.graph.nodes.at(l.index);
  if (is_waiting(dependent, {l.id, l.index})) others_.fail_dependent(others_.rank, dependent);
}

MANTA_DECL void tasks_ahead::on_come_back(rank_id from, const task_message& m) {
  below_.scheduler->returned(from, m.charge_or_slot);
  below_.elsewhere.note_back();
  below_.elsewhere.note_ahead_back();
  node& n = own_.graph.nodes.at(m.home_index);
  // The task was cancelled while it was on its way back.
  if (n.state != state::pending) return others_.discard(others_.rank, n);
  task& t = *n.record;
  // From here on the task waits for its inputs at home again, so their ends must not be sent after it.
  for (std::uint32_t i = 0; i < t.input_count; ++i) own_.graph.remove_link(*t.inputs()[i], link_kind::ahead, n.index);
  t.place = graph::place::here;
  others_.start(others_.rank, n);
}

}  // namespace manta::exec
