// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks sent ahead of their inputs. Where every input that a task of rank 0
// still misses is being made on one executor, the task is sent there at once
// and finds them on the spot: a chain runs at the pace of its executor instead
// of one round trip a link.
//
// The executor has a node for each such input, without owing the home a
// reference; the home keeps the task's record, and so the inputs, until the
// task has ended. The record of the task that makes it has that node, if it can
// be found at once, else it is a stand-in. What is made there completes it as
// it ends, and its result tells the home how many inputs that was. If some came
// too late for that, or the input was made somewhere else after all, or has
// failed, the home sends it after them (`made`), behind the tasks in the same
// channel. Whatever else waits for it there asks the home as everywhere, for a
// task that was sent ahead may be given back.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

// --- rank 0

/// The executor to which a task that waits for inputs may be sent; no_index: none.
MANTA_DECL std::uint32_t engine::where_inputs_are_made(const task& t) const {
  constexpr std::uint32_t most_inputs = 8;
  if (t.request != nullptr || t.ahead || t.input_count > most_inputs) return no_index;
  std::uint32_t there = no_index;
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    const node& input = *const_cast<task&>(t).inputs()[i];
    if (input.state == state::ready) continue;
    if (!is_task(input) || input.has(node::actor)) return no_index;
    std::uint32_t at = no_index;
    if (input.form == form::none && input.sent.slot == no_index) at = input.sent.at;
    if (input.form == form::record && input.record->place == graph::place::elsewhere &&
        (input.record->ahead || (members_.recovers() && input.record->request == nullptr))) {
      at = input.record->caller;
    }
    if (at == no_index || at == rank_ || (there != no_index && at != there)) return no_index;
    there = at;
  }
  return there;
}

/// Sends a task of ours ahead of inputs that it may be linked to, now or when there is room.
MANTA_DECL void engine::send_ahead(node& n) {
  if (!hands_out()) return;
  const std::uint32_t to = where_inputs_are_made(*n.record);
  if (to != no_index && !send_ahead_to(n, to)) waiting_ahead_.add(to, {n.record->id, n.index});
}

/// False if there is no room there.
MANTA_DECL bool engine::send_ahead_to(node& n, std::uint32_t to) {
  task& t = *n.record;
  std::uint32_t charge = 0;
  if (!scheduler_->take_room_on(to, n.function, charge)) return false;
  t.ahead = true;
  for (std::uint32_t i = 0; i < t.input_count; ++i) {
    node& input = *t.inputs()[i];
    if (input.state != state::pending) continue;
    if (n.missing != 0) graph_.remove_dependent(input, n.index);
    link& l = graph_.add_link(input, link_kind::ahead);
    l.rank = to;
    l.index = n.index;
    l.id = t.id;
  }
  n.missing = 0;
  const task_message m{t.id,   t.function,       rank_,     n.index,
                       charge, t.argument_bytes, t.attempt, task_message::by_scheduler | task_message::ahead, 0};
  records_.send(to, message::run, m, nullptr, t.arguments(), t.argument_bytes, t.inputs(), t.input_count, nullptr,
              t.digest);
  elsewhere_.note_sent();
  elsewhere_.note_ahead();
  t.place = graph::place::elsewhere;
  t.caller = to;
  if (n.links != nullptr) follow_ahead(n, to);
  return true;
}

/// A task has been sent: those that wait for its result may follow.
MANTA_DECL void engine::follow_ahead(node& n, std::uint32_t to) {
  constexpr int most_dependents = 16;
  int count = 0;
  for (link* l = n.links; l != nullptr && count < most_dependents; l = l->next) {
    if (l->kind != link_kind::input) continue;
    graph::task_graph::visit_dependents(*l, [&](std::uint32_t index) {
      node& dependent = graph_.nodes.at(index);
      if (dependent.form == form::record && where_inputs_are_made(*dependent.record) == to) {
        waiting_ahead_.add(to, {dependent.record->id, dependent.index});
      }
      return ++count < most_dependents;
    });
  }
}

/// Sends the tasks for which there is room again.
MANTA_DECL void engine::send_waiting_ahead() {
  waiting_ahead_.send_on([&](std::uint32_t to, const task_place& next) {
    node& n = graph_.nodes.at(next.index);
    if (!is_waiting(n, next) || n.missing == 0) return true;
    if (where_inputs_are_made(*n.record) == to) return send_ahead_to(n, to);
    send_ahead(n);
    return true;
  });
}

/// The result of `n` has come from `from`, where it has reached `reached` tasks.
MANTA_DECL void engine::note_reached(node& n, std::uint32_t from, std::uint32_t reached) {
  std::uint32_t sent = 0;
  for (const link* l = n.links; l != nullptr; l = l->next) sent += l->kind == link_kind::ahead && l->rank == from;
  if (sent == 0 || sent != reached) return;
  for (link** at = &n.links; *at != nullptr;) {
    link* const l = *at;
    if (l->kind == link_kind::ahead && l->rank == from) {
      *at = l->next;
      graph_.links.free(l);
    } else {
      at = &l->next;
    }
  }
}

/// An input has ended, and a task that was sent ahead of it has not been reached by it there, as far as is known.
MANTA_DECL void engine::send_after(const link& l, node& input) {
  supply_.tell_value(l.rank, input.index, input, message::made);
  if (input.state != state::failed) return;
  node& dependent = graph_.nodes.at(l.index);
  if (is_waiting(dependent, {l.id, l.index})) fail_dependent(dependent);
}

/// The executor is busy for longer than was thought, and the task's inputs may be made elsewhere now.
MANTA_DECL void engine::on_ahead_back(std::uint32_t from, const task_message& m) {
  scheduler_->returned(from, m.charge_or_slot);
  asked_.erase(from);
  elsewhere_.note_back();
  elsewhere_.note_ahead_back();
  node& n = graph_.nodes.at(m.home_index);
  if (n.state != state::pending)
    return discard(n, result_message{n.index, 0, 0, static_cast<std::uint8_t>(form::none), 0, 0}, nullptr, 0);
  task& t = *n.record;
  for (std::uint32_t i = 0; i < t.input_count; ++i) graph_.remove_link(*t.inputs()[i], link_kind::ahead, n.index);
  t.place = graph::place::here;
  start_when_possible(n);
}

// --- the executor

MANTA_DECL void engine::on_run_ahead(std::uint32_t from, const std::byte* data) {
  task* const t = records_.read(from, data);
  t->ahead = true;
  staging_.note_maker(t);
  stage(t);
}

/// The node of what ends here, if tasks that were sent ahead wait for it: `result` of its task, or the stand-in.
MANTA_DECL node* engine::expected_here(std::uint32_t home_rank, std::uint32_t home_index, node* result) {
  if (home_rank != 0 || (result == nullptr && !staging_.has_ahead())) return nullptr;
  node* const n = refs_.known(home_rank, home_index);
  if (n == nullptr || n == result) return result;
  if (result != nullptr) hand_over(*result, *n);
  return n->missing != 0 && n->state == state::pending ? n : nullptr;
}

/// There is a stand-in for it too: those who wait for `result` wait for that.
MANTA_DECL void engine::hand_over(node& result, node& n) {
  for (link* l = std::exchange(result.links, nullptr); l != nullptr;) {
    task* const t = static_cast<task*>(l->pointer);
    graph_.links.free(std::exchange(l, l->next));
    node** input = t->inputs();
    while (*input != &result) ++input;
    *input = &n;
    refs_.hold(n);
    refs_.release(result);
    if (n.state != state::pending) {
      stage_input_arrived(t, n);
    } else {
      graph_.add_link(n, link_kind::staged).pointer = t;
      ++n.missing;
    }
  }
  result.missing = 0;
}

MANTA_DECL void engine::on_made(std::uint32_t from, const result_message& m, const std::byte* data, std::size_t bytes) {
  node* n = refs_.known(from, m.index);
  const bool owed = static_cast<form>(m.form) == form::remote;  // until it has been fetched
  if (owed) {
    n = &refs_.stand_in(from, m.index, m.charge);
    ++n->links->count;
  }
  if (n != nullptr && n->state == state::pending) {
    n->missing = 0;
    fetches_.accept_value(*n, m, data, bytes);
    if (n->state == state::failed) n->set(node::observed);
  } else if ((m.flags & result_message::references) != 0) {
    fetches_.give_back_references(m.charge, m, data, bytes);
  }
  if (owed) refs_.release(*n);
}

/// Gives rank 0 back what was sent here ahead and has not begun, whether its inputs have been made by now or not.
MANTA_DECL void engine::give_back_ahead() {
  const auto give_back = [&](task* t) {
    const task_message m{t->id, t->function, t->home_rank, t->home_index, t->charge, 0, t->attempt, task_message::ahead,
                         0};
    post_.send(0, message::come_back, m);
    --received_tasks_;
    records_.free(t);
  };
  while (staging_.has_ahead()) {
    task* const t = staging_.first_ahead();
    staging_.remove_waiting(t);
    unstage(t);
    give_back(t);
  }
  while (task* const t = staging_.take_ready([](const task& staged) { return staged.ahead; })) give_back(t);
}

}  // namespace manta::exec
