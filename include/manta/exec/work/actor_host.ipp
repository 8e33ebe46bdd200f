// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "manta/base/vector.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/actor_host.hpp"

namespace manta::exec {

MANTA_DECL slot_index actor_host::add(const invocation& call, const task& made_by, task* constructor) {
  const slot_index index = slots_.take();
  actor_slot& slot = slots_[index];
  slot.object = call.actor;
  slot.type = call.actor_type;
  slot.function = made_by.function;
  slot.home = {made_by.home_rank, made_by.home_index};
  slot.request = made_by.request;
  slot.made_with = made_by.digest;
  slot.constructor = constructor;
  if (slot.request && !slot.request->checkpoint.empty()) {
    slot.checkpoint.append(slot.request->checkpoint.data(), slot.request->checkpoint.size());
  }
  return index;
}

MANTA_DECL void actor_host::on_call(rank_id from, const std::byte* data, std::size_t bytes) {
  task_message m;
  std::memcpy(&m, data, sizeof m);
  actor_slot& slot = slots_[m.charge_or_slot];
  if (slot.is_bounded()) {
    const std::size_t waiting = slot.mailbox.size() + slot.in_line - slot.about_to_start();
    // Calls of a dead actor are not refused here: they fail with the reason of its death.
    if (slot.dead.empty() && waiting >= static_cast<std::size_t>(slot.request->rules.max_pending))
      return refuse(from, data);
    ++slot.in_line;
  }
  calls_.push(from, data, bytes);
  // Somebody waits for the answer, so the call does not wait behind all tasks that are here.
  below_.pace.hurry();
}

MANTA_DECL void actor_host::refuse(rank_id from, const std::byte* data) {
  task* const t = below_.records.read(from, data);
  actor_slot& slot = slots_[t->slot];
  ++slot.received;
  const store::failure_ptr why =
      busy_failure(wire::function_at(t->function).name(), slot.request->rules.max_pending, own_.rank);
  invocation none(below_.lock);
  below_.executor.ended(origin_of_call(*t), none, false, why, 0);
  // The refused call may be the last one that the ending actor has waited for.
  if (slot.has_all_calls()) list(t->slot);
  below_.records.free(t);
}

MANTA_DECL void actor_host::receive(const message_queue::view& v) {
  task_message m;
  std::memcpy(&m, v.data, sizeof m);
  actor_slot& slot = slots_[m.charge_or_slot];
  ++slot.received;
  if (slot.is_bounded()) --slot.in_line;
  // The usual case: nothing is in front of this call, so it runs from the message, without a record. A call that may
  // have to be repeated needs one.
  if (slot.dead.empty() && slot.mailbox.empty() && (m.flags & task_message::has_inputs) == 0 && slot.gang == nullptr &&
      !slot.keeps_log() && !slot.request->rules.at_least_once && slot.may_start(m.function)) {
    store::failure_ptr why;
    running_task identity{m.id, m.function};
    identity.actor = slot.request.get();
    identity.for_member = (m.flags & task_message::for_member) != 0;
    invocation call(below_.lock, v.data + sizeof m, m.argument_bytes);
    call.self = slot.object;
    ++slot.active;
    bool ok = below_.runner.invoke(call, m.function, identity, why);
    note_call(slot, identity);
    if (!ok && why->fatal) slot.note_fatal(*why);
    restarts_.lose_if_broken(slot, m.function, call, ok, why);
    below_.executor.ended(origin_of_call(m), call, ok, why, 0);
    return after_call(m.charge_or_slot);
  }
  task* t = below_.records.read(v.from, v.data);
  if (!slot.dead.empty()) {
    slot.mailbox.push_back(t);
    return fail_waiting(m.charge_or_slot);
  }
  slot.mailbox.push_back(t);
  below_.executor.stage(t);
}

MANTA_DECL void actor_host::run_mailbox() {
  const slot_index index = slots_.pop_listed();
  actor_slot& slot = slots_[index];
  if (!slot.used) return;  // it has ended since
  if (!slot.dead.empty()) return fail_waiting(index);
  if (slot.mailbox.empty()) return after_call(index, false);
  task* t = slot.take();
  // The next call may not start beside those that run; it is listed again when one of them ends.
  if (t == nullptr) return;
  if (!has_inputs_here(*t)) {
    slot.mailbox.push_front(t);
    below_.executor.stage(t);
    return list(index);  // for calls of others
  }
  ++slot.active;
  if (slot.gang != nullptr) return others_.run_part(others_.rank, index, t);
  run_from_mailbox(index, t);
}

MANTA_DECL void actor_host::run_from_mailbox(slot_index index, task* t) {
  actor_slot& slot = slots_[index];
  // This call may wait inside, and others may run meanwhile.
  if (!slot.mailbox.empty() && (slot.has_room() || slot.request->rules.overlap_const)) list(index);
  store::failure_ptr why = own_.failures.of_input(*t);
  const bool ran = why == nullptr;
  running_task identity{t->id, t->function, t->attempt};
  identity.actor = slot.request.get();
  identity.for_member = t->for_member;
  invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.self = slot.object;
  call.keeps_inputs = slot.keeps_log() || slot.request->rules.at_least_once;
  bool ok = ran && below_.runner.invoke(call, t->function, identity, why);
  if (ran) note_call(slot, identity);
  const bool found_it_broken = ran && !ok && why->fatal;
  if (found_it_broken) slot.note_fatal(*why);
  const bool is_lost = restarts_.lose_if_broken(slot, t->function, call, ok, why);
  if ((found_it_broken || is_lost) && slot.request->rules.at_least_once && slot.restarts < slot.request->restarts) {
    ++t->attempt;
    slot.mailbox.push_front(t);  // it is done again by the new actor
    return after_call(index);
  }
  const task_origin of = origin_of_call(*t);
  // A const method changes nothing, so a restart need not repeat it.
  if (slot.keeps_log() && ran && !slot.broken && slot.dead.empty() && !wire::function_at(t->function).looks_only) {
    restarts_.log(slot, t);
  } else {
    below_.records.free(t);
  }
  below_.executor.ended(of, call, ok, why, 0);
  after_call(index);
}

MANTA_DECL void actor_host::after_call(slot_index index, bool was_active) {
  actor_slot& slot = slots_[index];
  if (was_active) --slot.active;
  if (slot.broken && slot.dead.empty()) {
    if (slot.active != 0) return;  // calls that wait inside still hold the old object
    restarts_.restart(slot);
  }
  if (!slot.mailbox.empty()) return list(index);
  if (slot.active != 0) return;
  // The request goes when the actor ends, so it ends once.
  if (!slot.dead.empty() && slot.request) end(index, slot.dead);
  if (slot.has_all_calls() && !(slot.is_least && has_call_in_line(index))) {
    if (slot.request) end(index, "it ended with its last handle");
    restarts_.forget(slot);
    if (!slot.is_least) slots_.free(index);  // else the slot answers late calls
  }
}

MANTA_DECL void actor_host::end(slot_index index, const std::string& why) {
  actor_slot& slot = slots_[index];
  if (slot.dead.empty()) slot.dead = why;
  if (below_.journaling.keeps_state(*slot.request)) {
    // The program has let go of the actor, so its state is of no use to a later run. If the run has to end early, or an
    // exception took the handle, the next run goes on with the state.
    if (!below_.phase.is_stopping() && !slot.unwound) {
      below_.journaling.forget_state({*slot.request, slot.function, slot.made_with});
    } else if (slot.object != nullptr && !slot.broken && !slot.log.empty()) {
      restarts_.save(slot);  // the next start goes on with it
    }
  }
  below_.actor_times.note_end(name_of(slot), slot.done);
  void* const object = std::exchange(slot.object, nullptr);
  const graph::request_ptr request = std::exchange(slot.request, nullptr);
  const auto destroy = slot.type->destroy;
  if (own_.members.recovers() && slot.constructor != nullptr) {
    const checkpoint_message none{slot.constructor->id, slot.constructor->home_index, 0};
    own_.post.send(slot.constructor->home_rank, message::checkpoint, none);
  }
  restarts_.forget(slot);
  if (slot.gang != nullptr && slot.gang->member == 0) {
    for (std::uint32_t member = 1; member < slot.member_slots.size(); ++member) {
      if (slot.member_slots[member] == no_index) continue;
      const end_actor_message end{slot.member_slots[member], 0, slot.forwarded, 0, 0};
      own_.post.send(slot.gang->ranks[member], message::end_actor, end);
    }
  }
  wire::buffer bytes;
  request->write(bytes);
  // Rank 0 gets back what the actor's request has held, and frees its name.
  own_.post.send(0, message::actor_gone, index_message{index, 0}, bytes.data(), bytes.size());
  running_task identity{0, slot.function};
  identity.for_member = slot.gang != nullptr;
  const exec::current_task::scope running(below_.running, identity);
  ++slot.active;  // destructors may wait, and what comes meanwhile must not end the slot
  restarts_.drop_copy(slot);
  if (object != nullptr) {
    const outside user(below_.lock);
    destroy(object);
  }
  --slot.active;
}

MANTA_DECL void actor_host::add_waiting(base::vector<report::waiting_actor>& to, int here) const {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const actor_slot& slot = slots_[i];
    if (!slot.used || slot.object == nullptr || slot.mailbox.size() == 0) continue;
    to.push_back({name_of(slot), here, slot.mailbox.size()});
  }
}

MANTA_DECL void actor_host::add_living(base::vector<actor_times::entry>& to) const {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const actor_slot& slot = slots_[i];
    if (slot.used && slot.object != nullptr) to.push_back({name_of(slot), slot.done});
  }
}

MANTA_DECL void actor_host::kill(slot_index index, std::string why) {
  actor_slot& slot = slots_[index];
  if (!slot.dead.empty()) return;
  slot.dead = std::move(why);
  for (running_task* r = below_.started.first(); r != nullptr; r = r->next) {
    // Methods that run now are asked to stop; they cannot be ended.
    r->stop = r->stop || (r->actor != nullptr && r->actor == slot.request.get());
  }
  below_.waiters.note_stop();
  list(index);
}

MANTA_DECL void actor_host::on_end_actor(const end_actor_message& m) {
  slots_[m.slot].ends_after = m.calls;
  slots_[m.slot].is_least = m.is_least != 0;
  slots_[m.slot].unwound = m.unwinding != 0;
  list(m.slot);
}

MANTA_DECL void actor_host::fail_waiting(slot_index index) {
  actor_slot& slot = slots_[index];
  // A call whose inputs are still on their way is linked to them, and fails when they have come.
  while (task* t = slot.mailbox.take([](const task& each) { return each.missing == 0; })) {
    const store::failure_ptr why = actor_failure(slot.dead);
    if (slot.gang != nullptr && slot.gang->member != 0) {  // another part has sent it on
      others_.part_failed(others_.rank, *t, why);
    } else {
      invocation none(below_.lock);
      below_.executor.ended(origin_of_call(*t), none, false, why, 0);
    }
    below_.records.free(t);
  }
  if (slot.mailbox.empty()) after_call(index, false);
}

MANTA_DECL void actor_host::kill_all(const std::string& why) {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const actor_slot& slot = slots_[i];
    if (slot.used && slot.object != nullptr && slot.dead.empty()) kill(i, why);
  }
}

MANTA_DECL void actor_host::kill_parts_with(rank_id dead, const std::string& why) {
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const actor_slot& slot = slots_[i];
    if (!slot.used || slot.gang == nullptr || !slot.request || slot.request->restarts > 0) continue;
    if (std::ranges::count(slot.gang->ranks, dead.number()) != 0) kill(i, why);
  }
}

MANTA_DECL bool actor_host::has_call_in_line(slot_index slot) const {
  return calls_.any([&](const message_queue::view& v) {
    task_message m;
    std::memcpy(&m, v.data, sizeof m);
    return m.charge_or_slot == slot.number();
  });
}

MANTA_DECL bool actor_host::has_unstarted(slot_index slot, std::uint64_t id) const {
  return slots_[slot].mailbox.find([&](const task& t) { return t.id == id; }) != nullptr ||
         calls_.any([&](const message_queue::view& v) { return id_of_task(v.data) == id; });
}

MANTA_DECL task* actor_host::take_unstarted(slot_index index, std::uint64_t id) {
  actor_slot& slot = slots_[index];
  if (task* const t = slot.mailbox.take([&](const task& each) { return each.id == id; })) {
    below_.executor.unstage(t);
    return t;
  }
  task* found = nullptr;
  const auto is_it = [&](const message_queue::view& v) { return id_of_task(v.data) == id; };
  if (calls_.take(is_it, [&](const message_queue::view& v) { found = below_.records.read(v.from, v.data); })) {
    ++slot.received;
    if (slot.is_bounded()) --slot.in_line;
  }
  return found;
}

}  // namespace manta::exec
