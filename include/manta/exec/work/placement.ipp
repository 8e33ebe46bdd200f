// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/placement.hpp"
#include "manta/net/teams.hpp"

namespace manta::exec {

MANTA_DECL void placement::dispatch(node& n, rank_id to, std::uint32_t charge) {
  if (n.form == form::compact) {
    const task_message m{
        n.compact.id, n.function, own_.rank, n.index, charge, n.size, 0, task_message::by_scheduler, 0};
    own_.post.send(to, message::run, m, n.compact.arguments, n.size);
    // Where ranks may die, the node keeps the arguments, so that the task can be sent once more.
    note_compact_sent(n, to, own_.members.recovers());
    below_.elsewhere.note_sent();
    if (n.links != nullptr) below_.ahead.follow(n, to);
    return;
  }
  task& t = *n.record;
  if (t.request != nullptr && t.request->ranks > 0) {
    dispatch_gang(n, charge);
  } else {
    const task_message m{t.id,   t.function,       t.home_rank, t.home_index,
                         charge, t.argument_bytes, t.attempt,   task_message::by_scheduler,
                         0};
    below_.records.send(to, message::run, m, seen_arguments_of(t), {t.request.get(), nullptr, t.digest});
  }
  if (t.home_rank != own_.rank) {  // placed for another rank: nothing is left to do here
    places_.note_sent(place_key(t), to, t.request.get());
    return own_.refs.release(n);
  }
  if (t.home_index != n.index) {  // ours, on its second way
    places_.forget(place_key(t));
    node& home = own_.graph.nodes.at(t.home_index);
    if (home.form == form::record) {
      home.record->caller = to;
    } else {
      home.sent.at = to;
    }
    return own_.refs.release(n);
  }
  below_.elsewhere.note_sent();
  t.ahead = false;
  t.place = graph::place::elsewhere;
  t.caller = to;
  if (own_.members.recovers()) {
    if (n.links != nullptr) below_.ahead.follow(n, to);
  } else if (t.request == nullptr) {
    note_sent(n, t.id, to);
    n.sent.near_bytes = below_.scheduler->bytes_there();  // for those who ask why
    below_.records.free(&t);
    if (n.links != nullptr) below_.ahead.follow(n, to);
  } else if (!t.request->kept()) {
    below_.records.drop_inputs(&t);  // the request is needed when it ends
  }
}

MANTA_DECL void placement::dispatch_gang(node& n, std::uint32_t charge) {
  task& t = *n.record;
  graph::gang gang;
  gang.id = below_.scheduler->gang().id() | (own_.members.deaths() != 0 ? net::teams::after_deaths : 0);
  for (const std::uint32_t rank : below_.scheduler->gang().members()) gang.ranks.push_back(rank);
  graph::grant& granted = t.request->granted;
  const graph::grant of_leader = granted;
  for (const std::uint32_t rank : gang.ranks) {  // each is told what it was given, and gives that back
    granted = below_.scheduler->gang().grants()[gang.member];
    const task_message m{t.id,   t.function,       t.home_rank, t.home_index,
                         charge, t.argument_bytes, t.attempt,   task_message::by_scheduler,
                         0};
    below_.records.send(rank, message::run, m, seen_arguments_of(t), {t.request.get(), &gang, t.digest});
    ++gang.member;
  }
  granted = of_leader;
}

MANTA_DECL void placement::on_submit(rank_id from, const std::byte* data, bool returned) {
  task* t = below_.records.read(from, data);
  t->slot = no_index;
  if (returned && t->by_scheduler) {
    below_.scheduler->returned(from, t->charge);
    t->by_scheduler = false;
  }
  note_answer(from);
  if (returned && others_.is_withdrawn(others_.rank, *t)) return;
  node& n = own_.refs.make_node(t->function, no_index);
  places_.note_waiting(place_key(*t), n);
  n.form = form::record;
  n.record = t;
  add(n);
}

MANTA_DECL void placement::ask_for_work() {
  const graph::rank_load& load = below_.scheduler->load();
  if (load.executing().size() < 2 || below_.scheduler->waiting() != 0 || load.inactive() == 0) return;
  if (asked_at_ == load.log().loads() && below_.executor.in_inbox() < 2) return;  // nothing has happened since
  asked_at_ = load.log().loads();
  constexpr std::uint32_t tasks_a_rank = 16;  // more than one, for asking takes its time
  std::uint32_t wanted = 0;
  bool of_members_too = false;
  for (const std::uint32_t r : load.executing()) {
    if (!load.idle(r) || load[r].lent) continue;
    wanted += load.in_team(r) ? 0 : tasks_a_rank;
    of_members_too = of_members_too || !load.in_gang(r);
  }
  if (wanted == 0) return;
  const auto own = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, below_.executor.in_inbox() / 2));
  if (own != 0) own_.post.send(own_.rank, message::demand, demand_message{own, of_members_too});  // of members of gangs
  for (const std::uint32_t r : load.executing()) {
    if (r == own_.rank || asked_.has(r) || load.idle(r)) continue;
    asked_.insert(r);
    own_.post.send(r, message::demand, demand_message{wanted, of_members_too});
  }
}

MANTA_DECL void placement::release(std::uint64_t id) {
  base::list<node*> refused;
  graph::reservation* const r = below_.scheduler->release(id, [&](node& n) { refused.push_back(&n); });
  if (r == nullptr) return;
  for (node* n : refused) refuse(*n, reservation_gone());
  // The program waits for a reservation that was not met; one that was met has been answered.
  if (!r->met) {
    below_.supply.send_failure({r->home_rank, r->home_index}, reservation_given_up());
  }
  delete r;
}

MANTA_DECL void placement::refuse(node& n, const store::failure_ptr& why) {
  if (n.form == form::record) {
    if (n.record->home_index != n.index || n.record->home_rank != own_.rank) places_.forget(place_key_of(n, own_.rank));
    if (n.record->home_rank != own_.rank) {
      below_.supply.send_failure({n.record->home_rank, n.record->home_index}, why);
      return own_.refs.release(n);
    }
  }
  node& home = n.form == form::record ? own_.graph.nodes.at(n.record->home_index) : n;
  if (&home != &n) {
    below_.elsewhere.note_back();
    own_.refs.release(n);
  }
  below_.completion.fail(home, why);
  own_.refs.release(home);
}

MANTA_DECL void placement::add(node& n) {
  if (below_.departure.is_leaving()) [[unlikely]]
    return refuse(n, leaving_failure(below_.departure.why()));  // it was on its way here
  const graph::request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
  // Rank 0 executes no tasks while others do, but a task that has to be there must start.
  if (wanted != nullptr && wanted->needs_rank_0) below_.scheduler->rank_0_executes(true);
  if (wanted != nullptr && (own_.members.deaths() != 0 || (wanted->ranks > 0 && wanted->reservation != 0)) &&
      !below_.scheduler->is_possible(*wanted) && !is_forgiven(n)) {
    return refuse(n, never_possible(n));
  }
  // A task with large inputs does not go to a rank that is short of memory.
  if (!below_.scheduler->ready(n, !short_.empty() && takes_large(n))) refuse(n, reservation_gone());
}

MANTA_DECL void placement::place() {
  if (below_.departure.has_end()) below_.scheduler->set_time_left(below_.departure.left_ns(base::ticks()));
  below_.scheduler->decide([&](node& n, rank_id to, std::uint32_t charge) { dispatch(n, to, charge); });
  while (node* const n = below_.scheduler->take_late()) {
    if (n->has(node::timed)) below_.attempts.stop_timer(*n);
    below_.late.set_aside(*n);
  }
  if (below_.ahead.has_waiting()) below_.ahead.send_waiting();
  while (const graph::reservation* r = below_.scheduler->take_met()) {
    own_.post.send(r->home_rank, message::result,
                   result_message{r->home_index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0});
    // gangs for which its bundles lie on too few ranks
    below_.scheduler->refuse_impossible([&](node& n) { refuse(n, never_possible(n)); }, r->id);
  }
}

MANTA_DECL store::failure_ptr placement::never_possible(const node& n) const {
  const graph::request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
  if (own_.members.deaths() == 0)
    return gang_failure(n, below_.scheduler->held().find_reservation(wanted->reservation)->wanted);
  if (wanted == nullptr || wanted->cost.rank < 0) return own_.failures.nobody_left(n, false);
  graph::request forgiven(*wanted);
  // The message differs if only the rule for tasks that may kill a rank stands in the way.
  forgiven.cost = {};
  return own_.failures.nobody_left(n, below_.scheduler->is_possible(forgiven));
}

MANTA_DECL bool placement::is_forgiven(const node& n) {
  graph::request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
  if (wanted == nullptr || !wanted->cost.was_killed || wanted->cost.rank < 0) return false;
  const graph::fatal_rank cost = std::exchange(wanted->cost, {});
  if (below_.scheduler->is_possible(*wanted)) return true;
  wanted->cost = cost;
  return false;
}

MANTA_DECL std::uint64_t placement::rank_died(rank_id dead) {
  note_answer(dead);
  short_.erase(dead);
  const std::uint64_t broken = below_.scheduler->load().gang_of(dead);
  base::list<node*> refused;
  if (!below_.scheduler->died(dead, [&](node& n) { refused.push_back(&n); })) {
    graph::capacity its = below_.world[0];
    its.executes = true;  // there is nobody else
    below_.world.set(0, its);
    below_.scheduler->rank_0_executes(false);
    below_.scheduler->refuse_impossible([&](node& n) { refused.push_back(&n); });
  }
  for (node* n : refused) {
    if (is_forgiven(*n)) {
      add(*n);
    } else {
      refuse(*n, never_possible(*n));
    }
  }
  places_.rank_died(dead);
  return broken;
}

MANTA_DECL void placement::on_where_is(rank_id from, const where_message& m) {
  const std::uint32_t rank = lost_with(m.key);
  if (rank == no_index) return;
  own_.post.send(from, message::task_lost, where_message{m.key, m.index, rank});
}

MANTA_DECL void placement::on_ended(rank_id from, const ended_message& m, const graph::request* request) {
  places_.note_ended(m.key, from, own_.members.recovers());
  below_.scheduler->ended(from, m.function, m.charge, whole(m.nanoseconds), request);
  if (m.failed != 0 && request != nullptr && request->actor) below_.scheduler->give_back(from, *request);
}

MANTA_DECL void placement::on_blocked(rank_id from, const blocked_message& m) {
  short_.set(from, m.is_short != 0);
  below_.scheduler->blocked(from, m.tasks, m.own_work != 0, m.in_call != 0);
}

MANTA_DECL std::uint64_t placement::reserve(rank_id asker, node_index index, graph::strategy how,
                                            graph::bundles wanted) {
  auto* const r = new graph::reservation(++reservations_made_, how, std::move(wanted));
  r->home_rank = asker;
  r->home_index = index;
  const std::uint64_t id = r->id;
  below_.scheduler->reserve(r);
  return id;
}

MANTA_DECL void placement::release_pending() {
  while (const graph::reservation* r = below_.scheduler->held().first_pending()) release(r->id);
}

MANTA_DECL void placement::end_run() {
  while (const graph::reservation* r = below_.scheduler->held().any_reservation()) {
    release(r->id);  // held by a handle that outlives the run
  }
  places_.clear();
  asked_.clear();
  asked_at_ = 0;
}

}  // namespace manta::exec
