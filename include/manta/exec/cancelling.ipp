// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that are to end before their time. Only the home of a task decides: it
// fails the node at once, and what the task's rank sends afterwards is thrown
// away. Then it follows the task: the node or the task record says to which
// rank it was sent, and rank 0 keeps a table of the tasks that it placed for
// others. A message never overtakes the task on its way; a task that is on its
// way back to rank 0 is met there. The rank that has it takes it out of
// whatever it waits in, or raises the flag that stop_requested() reads.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

// --- at the home

MANTA_DECL bool engine::cancel(node& n, bool children) {
  if (n.state != state::pending || (!is_stand_in(n) && n.function == no_index)) return false;
  const std::uint16_t flags = children ? cancel_message::children : 0;
  if (!is_stand_in(n)) {
    withdraw(n, cancel_failure(task_name(n), running_->name(), rank_), flags);
    net_.pump(true);
    return true;
  }
  const std::string_view who = running_->name();
  const std::uint32_t home = n.links->rank;
  const ask_message m{ask_message::cancel, 0, 0, home, n.links->index, children, 0};
  try {
    return ask(home, m, who.data(), who.size()).data()[0] != std::byte{0};
  } catch (const rank_lost&) {
    if (n.state != state::pending) return false;
  }
  completion_.fail(n, cancel_failure("a task of rank " + std::to_string(home), who, rank_));  // before it is made again
  return true;
}

/// For a task on another rank. False if it had ended, or is none.
MANTA_DECL bool engine::cancel_here(std::uint32_t index, bool children, std::uint32_t asker, std::string_view who) {
  node& n = graph_.nodes.at(index);
  if (n.state != state::pending || n.function == no_index) return false;
  withdraw(n, cancel_failure(task_name(n), who, asker), children ? cancel_message::children : 0);
  return true;
}

/// Ends a pending task or call of ours, wherever it is; with cancel_message::expired only if it has not started.
MANTA_DECL void engine::withdraw(node& n, const store::failure_ptr& why, std::uint16_t flags) {
  const auto end = [&] {
    completion_.fail(n, why);
    refs_.release(n);
  };
  if (n.has(node::queued)) {
    local_.remove(n);
    n.reset(node::queued);
    return end();
  }
  task* const t = n.form == form::record ? n.record : nullptr;
  if (n.form == form::compact || (t != nullptr && t->place == graph::place::scheduler) || late_.has(n)) {
    unqueue(n);
    return end();
  }
  if (n.missing != 0) return completion_.fail(n, why);  // its inputs are linked to it: the last of them lets it go
  if (t != nullptr && t->place == graph::place::resting) return end();
  if (t == nullptr && n.sent.at == no_index) {  // linked to the actor's handle, which lets it go
    records_.drop_inputs(n.sent.call);
    return completion_.fail(n, why);
  }
  if (t != nullptr && t->request != nullptr && t->request->ranks > 0) flags |= cancel_message::gang;
  const bool away = t == nullptr || t->place == graph::place::elsewhere;
  const std::uint32_t at = t == nullptr ? n.sent.at : away ? t->caller : rank_;
  const cancel_message m{id_of(n), rank_, n.index, t == nullptr ? n.sent.slot : no_index,
                         t == nullptr ? std::uint16_t{0} : t->attempt, flags};
  if ((flags & cancel_message::expired) == 0) {
    if (t != nullptr) {  // what its end needs is kept aside
      if (away && !t->ahead) records_.drop_inputs(t);
      cancelled_.insert(n.index) = reinterpret_cast<std::uint64_t>(t);
      n.form = form::none;
    }
    completion_.fail(n, why);
  }
  if (at != rank_ || !on_cancel(m)) post_.send(at, message::cancel, m);  // it is on its way to this rank itself
}

/// The result of a task or call of ours that was cancelled after it had been sent away.
MANTA_DECL void engine::discard(node& n, const result_message& m, const std::byte* data, std::size_t bytes) {
  if (const std::uint64_t* kept = cancelled_.find(n.index)) {
    records_.free(reinterpret_cast<task*>(*kept));
    cancelled_.erase(n.index);
  }
  switch (static_cast<form>(m.form)) {
    case form::plain:
      if (n.has(node::actor)) {
        const actor_place place = actor_place_in(data);
        post_.send(place.rank, message::end_actor, end_actor_message{place.slot, 0, 0});
      }
      break;
    case form::blob:
      if ((m.flags & result_message::references) != 0) fetches_.give_back_references(n.type, m, data, bytes);
      break;
    case form::remote: {
      remote_value remote;
      std::memcpy(&remote, data, sizeof remote);
      refs_.hold(n);  // the index is not used again before the place has answered
      post_.send(remote.place, message::release, index_message{n.index, rank_});
      break;
    }
    default:
      break;
  }
  refs_.release(n);
}

/// A cancelled task or call of ours has ended here, or was not begun: throws its result away.
MANTA_DECL void engine::discard_here(node& n, invocation& call) {
  task* kept = nullptr;
  if (const std::uint64_t* found = cancelled_.find(n.index)) {
    kept = reinterpret_cast<task*>(*found);
    cancelled_.erase(n.index);
  }
  if (call.actor != nullptr) {
    const std::uint32_t slot = new_slot(call, n.function, kept->request, nullptr);
    post_.send(rank_, message::end_actor, end_actor_message{slot, 0, 0});
  } else if (n.has(node::actor) && call.form == form::plain) {
    const actor_place place = actor_place_in(call.plain);
    post_.send(place.rank, message::end_actor, end_actor_message{place.slot, 0, 0});
  } else if (call.form == form::box) {
    wire::type_at(call.type).destroy(call.box);
  }
  if (kept != nullptr) records_.free(kept);
  refs_.release(n);
}

/// What a cancelled task submits, if its children were cancelled with it; or what comes when the run has to end.
MANTA_DECL node& engine::refuse_child(node& n, std::uint64_t id, node* const* inputs, std::uint32_t input_count,
                                      const store::failure_ptr& why) {
  for (std::uint32_t i = 0; i < input_count; ++i) refs_.release(*inputs[i]);
  note_sent(n, id, rank_);
  completion_.fail(n, why);
  refs_.release(n);
  return n;
}
MANTA_DECL store::failure_ptr engine::stopped_child(const node& n) const {
  return running_->stops_children ? cancel_failure(task_name(n), running_->name(), rank_)
                                  : leaving_failure(departure_.why());
}

// --- at rank 0, for tasks that it places

/// False if what it is about is not here, or not yet.
MANTA_DECL bool engine::on_cancel(const cancel_message& m) {
  if ((m.flags & cancel_message::part) != 0) {  // on the way to that rank, or there
    if (m.slot != rank_) {
      post_.send(m.slot, message::cancel, m);
      return true;
    }
    cancel_message part = m;
    part.slot = no_index;
    return stop_here(part);
  }
  const std::uint64_t key = place_key(m);
  const task_places::place where = places_.find(key);
  if (!where.is_known()) return stop_here(m);
  if (where.is_sent()) {
    places_.cancel(key);
    if (where.rank() == rank_) return stop_here(m);
    post_.send(where.rank(), message::cancel, m);
    return true;
  }
  node& placed = graph_.nodes.at(where.index());
  places_.forget(key);
  unqueue(placed);
  if (m.home_rank == rank_) elsewhere_.note_back();
  end_unstarted(std::exchange(placed.record, nullptr), (m.flags & cancel_message::expired) != 0);
  placed.form = form::none;
  refs_.release(placed);
  return true;
}

/// A task came back to rank 0: was it cancelled on the way? Then that is its end.
MANTA_DECL bool engine::is_withdrawn(task& t) {
  if (t.home_rank == rank_) {
    node& home = graph_.nodes.at(t.home_index);
    if (home.state != state::pending) {
      elsewhere_.note_back();
      end_unstarted(&t, false);
      return true;
    }
    if (home.form == form::record) {
      home.record->caller = rank_;
    } else {
      home.sent.at = rank_;
    }
    return false;
  }
  if (!places_.take_cancelled(place_key(t))) return false;
  end_unstarted(&t, false);
  return true;
}

// --- where the task is

/// False if it is not here.
MANTA_DECL bool engine::stop_here(const cancel_message& m) {
  const bool expired = (m.flags & cancel_message::expired) != 0;
  for (running_task* r = started_.first(); r != nullptr; r = r->next) {
    if (r->id != m.id) continue;
    if (expired) {
      r->expired = true;  // ends an isolated one; for others the deadline is to start
      return true;
    }
    r->stop = true;
    stop_members(m.id, m.flags);
    if ((m.flags & cancel_message::children) != 0) stop_children(*r);
    return true;
  }
  const auto is_it = [&](const task& t) { return t.id == m.id; };
  const auto is_its_message = [&](const message_queue::view& v) { return id_of_task(v.data) == m.id; };
  const auto end_message = [&](const message_queue::view& v) {
    end_unstarted(records_.read(v.from, v.data), expired);
  };
  if ((m.flags & cancel_message::gang) != 0) {
    const bool waits = m.slot == no_index
                           ? staging_.find_waiting(m.id, is_it) != nullptr || staging_.find_ready(is_it) != nullptr ||
                                 inbox_.any(is_its_message)
                           : slots_[m.slot].mailbox.find(is_it) != nullptr || calls_.any(is_its_message);
    if (expired || !waits) return false;
    started_.stop_at_start(m.id, (m.flags & cancel_message::children) != 0);
    return true;
  }
  if (m.slot == no_index) {
    if (task* const waits = staging_.find_waiting(m.id, is_it)) {
      staging_.remove_waiting(waits);
      unstage(waits);
      end_unstarted(waits, expired);
      return true;
    }
    if (task* const t = staging_.take_ready(is_it)) {
      end_unstarted(t, expired);
      return true;
    }
    return inbox_.take(is_its_message, end_message);
  }
  actor_slot& slot = slots_[m.slot];
  if (task* const t = slot.mailbox.take(is_it)) {
    unstage(t);
    end_unstarted(t, expired);
  } else if (calls_.take(is_its_message, end_message)) {
    ++slot.received;
    if (slot.is_bounded()) --slot.in_line;
  } else {
    return false;
  }
  list_slot(m.slot);  // it may have been the last one that the actor lived for
  return true;
}

MANTA_DECL void engine::unstage(task* t) {
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    node& input = *t->inputs()[i];
    if (store::is_here(input)) continue;
    graph_.remove_link(input, link_kind::staged, t);
    if (t->ahead && input.state == state::pending && input.missing != 0 && !is_task(input)) --input.missing;
  }
}

/// One that has been taken out of where it waited.
MANTA_DECL void engine::end_unstarted(task* t, bool expired) {
  invocation none(lock_);
  if (t->home_rank == rank_ && !t->by_scheduler && t->slot == no_index) {
    node& n = graph_.nodes.at(t->home_index);
    if (n.state != state::pending) {
      if (cancelled_.find(n.index) == nullptr || t != reinterpret_cast<task*>(*cancelled_.find(n.index)))
        records_.free(t);
      return discard_here(n, none);
    }
    const store::failure_ptr why = unstarted_failure(*t, expired);
    if (n.form != form::record || n.record != t) records_.free(t);
    completion_.fail(n, why);
    return refs_.release(n);
  }
  finish_received(t, false, none, false, unstarted_failure(*t, expired), not_run);
}

/// Cancels what a task has submitted and has not ended: those are nodes of this rank, and the id of each tells whose
/// child it is. Children that run here have their turn in the same loop, not on top of each other.
MANTA_DECL void engine::stop_children(running_task& parent) {
  parent.stops_children = true;
  if (!parents_to_stop_.add(&parent)) return;
  base::list<node*> children;
  for (running_task* each = nullptr; parents_to_stop_.take(each);) {
    const running_task& next = *each;
    if (next.children == 0) continue;
    graph_.nodes.for_each([&](node& n) {
      if (!is_task(n) || !next.has_child(id_of(n))) return;
      if (n.form == form::record && (n.record->home_rank != rank_ || n.record->home_index != n.index)) return;
      refs_.hold(n);
      children.push_back(&n);
    });
    for (node* child : children) {
      if (child->state == state::pending) {
        withdraw(*child, cancel_failure(task_name(*child), next.name(), rank_), cancel_message::children);
      }
      refs_.release(*child);
    }
    children.clear();
  }
}

/// A task that asks in a loop keeps the helper away, so it has to do the helper's work itself.
MANTA_DECL bool engine::stop_requested() {
  static const auto look_every = static_cast<std::uint64_t>(20'000 / base::nanoseconds_per_tick());
  const std::uint64_t now = base::ticks();
  if (!running_->stop && pace_.is_time_to_look(now, look_every)) {
    running_task& task = running_.get();
    if (task.first_look == 0) task.first_look = now;
    progress();
    if (now - task.first_look > 10 * look_every) serve_others();
    net_.pump(true);
    running_.resume(task);
  }
  return phase_.is_stopping() || running_->stop;
}

}  // namespace manta::exec
