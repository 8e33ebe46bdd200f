// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "manta/exec/home/withdrawal.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

MANTA_DECL bool withdrawal::cancel(node_index index, bool children, rank_id asker, std::string_view who) {
  node& n = own_.graph.nodes.at(index);
  if (n.state != state::pending || n.function == no_index) return false;
  withdraw(n, cancel_failure(task_name(n), who, asker), children ? cancel_message::children : 0);
  return true;
}

MANTA_DECL void withdrawal::withdraw(node& n, const store::failure_ptr& why, std::uint16_t flags) {
  const auto end = [&] {
    below_.completion.fail(n, why);
    own_.refs.release(n);
  };
  if (n.has(node::queued)) {
    // The task stands in this rank's own queue and has not begun: that is all there is to do.
    below_.local.remove(n);
    n.reset(node::queued);
    return end();
  }
  task* const t = n.form == form::record ? n.record : nullptr;
  if (n.form == form::compact || (t != nullptr && t->place == graph::place::scheduler) || below_.late.has(n)) {
    below_.placement.remove(n);
    return end();
  }
  if (n.missing != 0)
    return below_.completion.fail(n, why);  // the last input, still linked, gives the engine's reference up
  if (t != nullptr && t->place == graph::place::resting) return end();
  // The call waits at its actor's handle, whose end gives the engine's reference up.
  if (t == nullptr && n.sent.at == no_index) {
    below_.records.drop_inputs(n.sent.call);
    return below_.completion.fail(n, why);
  }
  if (t != nullptr && t->request != nullptr && t->request->ranks > 0) flags |= cancel_message::gang;
  const bool away = t == nullptr || t->place == graph::place::elsewhere;
  const rank_id at = t == nullptr ? n.sent.at : away ? t->caller : own_.rank.number();
  const cancel_message m{
      id_of(n), own_.rank, n.index, t == nullptr ? n.sent.slot : no_index, t == nullptr ? std::uint16_t{0} : t->attempt,
      flags};
  // A cancelled task ends for its home at once, whatever its executor does. A deadline only concerns tasks that have
  // not started, so there the executor decides, and its answer ends the task.
  if ((flags & cancel_message::expired) == 0) {
    if (t != nullptr) {  // rank 0 gives the resources of the request back when it hears of the end
      // A task that was sent ahead still has links at its inputs.
      if (away && !t->ahead) below_.records.drop_inputs(t);
      cancelled_.set(n.index, t);
      n.form = form::none;
    }
    below_.completion.fail(n, why);
  }
  // A task on its way to this rank itself is not here yet: the message comes after it.
  if (at != own_.rank || !on_cancel(m)) own_.post.send(at, message::cancel, m);
}

MANTA_DECL void withdrawal::discard(node& n, const result_message& m, const std::byte* data, std::size_t bytes) {
  if (task* const kept = take_record_of(n)) below_.records.free(kept);
  switch (static_cast<form>(m.form)) {
    // The bytes of a plain value go with the message; an actor that was constructed for nobody ends at once.
    case form::plain:
      if (n.has(node::actor)) {
        const actor_place place = actor_place_in(data);
        own_.post.send(place.rank, message::end_actor, end_actor_message{place.slot, 0, 0, 0, 0});
      }
      break;
    case form::blob:
      if ((m.flags & result_message::references) != 0) below_.fetches.give_back_references(n.type, m, data, bytes);
      break;
    case form::remote: {
      remote_value remote;
      std::memcpy(&remote, data, sizeof remote);
      own_.refs.hold(n);  // the index is not used again before the place has answered
      own_.post.send(remote.place, message::release, index_message{n.index, own_.rank});
      break;
    }
    default: break;
  }
  own_.refs.release(n);
}

MANTA_DECL void withdrawal::discard_here(node& n, invocation& call) {
  task* const kept = take_record_of(n);
  if (call.actor != nullptr) {
    const std::uint32_t slot = below_.actors.add(call, *kept, nullptr);
    // The actor lives already, and ends in the ordinary way, with its destructor outside the lock.
    own_.post.send(own_.rank, message::end_actor, end_actor_message{slot, 0, 0, 0, 0});
  } else if (n.has(node::actor) && call.form == form::plain) {
    const actor_place place = actor_place_in(call.plain);
    own_.post.send(place.rank, message::end_actor, end_actor_message{place.slot, 0, 0, 0, 0});
  } else if (call.form == form::box) {
    wire::type_at(call.type).destroy(call.box);
  }
  if (kept != nullptr) below_.records.free(kept);
  own_.refs.release(n);
}

MANTA_DECL node& withdrawal::refuse_child(node& n, std::uint64_t id, const task_arguments& given,
                                          const store::failure_ptr& why) {
  for (std::uint32_t i = 0; i < given.input_count; ++i) own_.refs.release(*given.inputs[i]);
  // The node gets the form of a task that was sent, so that the failure finds its name and id.
  note_sent(n, id, own_.rank);
  below_.completion.fail(n, why);
  own_.refs.release(n);
  return n;
}

MANTA_DECL bool withdrawal::refuses_children() const {
  const running_task& parent = *below_.running;
  if (parent.stops_children) return true;
  const bool is_in_destructor = below_.running.is_driver() || parent.id == 0;
  return below_.phase.is_stopping() && (below_.departure.is_leaving() || !is_in_destructor);
}

MANTA_DECL store::failure_ptr withdrawal::stopped_child(const node& n) const {
  return below_.running->stops_children ? cancel_failure(task_name(n), below_.running->name(), own_.rank)
                                        : why_not_begun();
}

MANTA_DECL store::failure_ptr withdrawal::why_not_begun() const {
  return below_.departure.is_leaving() ? leaving_failure(below_.departure.why()) : dropped_failure();
}

MANTA_DECL bool withdrawal::on_cancel(const cancel_message& m) {
  if ((m.flags & cancel_message::part) != 0) {  // on the way to that rank, or there
    const rank_id of_part = m.slot;
    if (of_part != own_.rank) {
      own_.post.send(of_part, message::cancel, m);
      return true;
    }
    cancel_message part = m;
    part.slot = no_index;
    return stop_here(part);
  }
  const std::uint64_t key = place_key(m);
  // Only rank 0 has places, of the tasks that it has placed for other homes.
  const task_places::place where = below_.placement.places().find(key);
  if (!where.is_known()) return stop_here(m);
  if (where.is_sent()) {
    below_.placement.places().cancel(key);
    if (where.rank() == own_.rank) return stop_here(m);
    own_.post.send(where.rank(), message::cancel, m);
    return true;
  }
  node& placed = own_.graph.nodes.at(where.index());
  below_.placement.places().forget(key);
  below_.placement.remove(placed);
  if (m.home_rank == own_.rank) below_.elsewhere.note_back();
  end_unstarted(std::exchange(placed.record, nullptr), (m.flags & cancel_message::expired) != 0);
  placed.form = form::none;
  own_.refs.release(placed);
  return true;
}

MANTA_DECL bool withdrawal::is_withdrawn(task& t) {
  if (t.home_rank == own_.rank) {
    node& home = own_.graph.nodes.at(t.home_index);
    if (home.state != state::pending) {
      below_.elsewhere.note_back();
      end_unstarted(&t, false);
      return true;
    }
    if (home.form == form::record) {
      home.record->caller = own_.rank;
    } else {
      home.sent.at = own_.rank;
    }
    return false;
  }
  if (!below_.placement.places().take_cancelled(place_key(t))) return false;
  end_unstarted(&t, false);
  return true;
}

MANTA_DECL bool withdrawal::stop_here(const cancel_message& m) {
  const bool expired = (m.flags & cancel_message::expired) != 0;
  // A task that has begun cannot be taken back: it is asked to stop, which this_task::stop_requested() tells it.
  for (running_task* r = below_.started.first(); r != nullptr; r = r->next) {
    if (r->id != m.id) continue;
    if (expired) {
      r->expired = true;  // ends an isolated one; for others the deadline is to start
      return true;
    }
    r->stop = true;
    below_.waiters.note_stop();
    below_.gangs.stop_members(m.id, m.flags);
    if ((m.flags & cancel_message::children) != 0) stop_children(*r);
    return true;
  }
  const bool is_call = m.slot != no_index;
  if ((m.flags & cancel_message::gang) != 0) {
    // A part of a gang is not taken out: the other members may have begun, and would wait for it in MPI. It starts, and
    // finds that it is to stop.
    const bool waits = is_call ? below_.actors.has_unstarted(m.slot, m.id) : below_.executor.has_unstarted(m.id);
    if (expired || !waits) return false;
    below_.started.stop_at_start(m.id, (m.flags & cancel_message::children) != 0);
    return true;
  }
  task* const t = is_call ? below_.actors.take_unstarted(m.slot, m.id) : below_.executor.take_unstarted(m.id);
  if (t == nullptr) return false;
  end_unstarted(t, expired);
  if (is_call) below_.actors.list(m.slot);  // it may have been the last one that the actor lived for
  return true;
}

MANTA_DECL void withdrawal::end_unstarted(task* t, bool expired) {
  invocation none(below_.lock);
  if (t->home_rank == own_.rank && !t->by_scheduler && t->slot == no_index) {
    node& n = own_.graph.nodes.at(t->home_index);
    if (n.state != state::pending) {
      if (t != record_of(n)) below_.records.free(t);
      return discard_here(n, none);
    }
    const store::failure_ptr why = unstarted_failure(*t, expired);
    if (n.form != form::record || n.record != t) below_.records.free(t);
    below_.completion.fail(n, why);
    return own_.refs.release(n);
  }
  below_.executor.end_received(t, false, none, false, unstarted_failure(*t, expired), not_run);
}

MANTA_DECL void withdrawal::stop_children(running_task& parent) {
  parent.stops_children = true;
  // Children have children: the list of parents takes the place of a recursion, and a call from inside
  // the loop only adds to it.
  if (!parents_.add(&parent)) return;
  base::list<node*> children;
  for (running_task* each = nullptr; parents_.take(each);) {
    const running_task& next = *each;
    if (next.children == 0) continue;
    own_.graph.nodes.for_each([&](node& n) {
      if (!is_task(n) || !next.has_child(id_of(n))) return;
      if (n.form == form::record && (n.record->home_rank != own_.rank || n.record->home_index != n.index)) return;
      own_.refs.hold(n);
      children.push_back(&n);
    });
    for (node* child : children) {
      if (child->state == state::pending) {
        withdraw(*child, cancel_failure(task_name(*child), next.name(), own_.rank), cancel_message::children);
      }
      own_.refs.release(*child);
    }
    children.clear();
  }
}

}  // namespace manta::exec
