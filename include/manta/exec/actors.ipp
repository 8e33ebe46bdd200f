// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors: calls go straight from the caller's rank to the actor's. A call made
// before the actor's place is known waits at the caller, linked to the handle's
// node. An actor ends with its last handle: the home learns with each returned
// reference how many calls were made through it, and the actor ends only after
// that many have come, for references and calls travel on different channels.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Arguments of a call go with it also where they are long, if the actor lives on another rank: asked for later, they
/// would have to wait until this rank has time, and it may compute, while the actor has nothing to do. What is under
/// way in this manner is not counted by its receiver's ledger, so it is bounded here; calls beyond that have their long
/// arguments fetched.
MANTA_DECL std::size_t engine::longest_argument(const node& handle) const {
  constexpr std::size_t longest = std::size_t{128} << 10;
  if (handle.state != state::ready) return store::inline_bytes;
  const actor_place place = actor_place_in(handle.bytes);
  return place.rank == rank_ || sent_arguments_.is_too_much(size_) ? store::inline_bytes : longest;
}

MANTA_DECL node& engine::call_actor(node& handle, std::uint32_t function, std::uint32_t type,
                                    const std::byte* arguments, std::size_t bytes, node* const* inputs,
                                    std::uint32_t input_count) {
  node& n = refs_.make_node(function, type, 2);  // one is the engine's own, until the call has ended
  const std::uint64_t id = running_->next_child();
  if (running_->stops_children) [[unlikely]] return refuse_child(n, id, inputs, input_count, stopped_child(n));
  if (members_.has_tolls() && members_.toll_of(id).blamed() != 0) [[unlikely]] {
    return refuse_child(n, id, inputs, input_count, failures_.died_with(n, members_.toll_of(id).last));
  }
  if (handle.state == state::ready && input_count == 0) {
    const actor_place place = actor_place_in(handle.bytes);
    refs_.add_calls(handle, 1);
    const std::uint8_t flags = running_->for_member ? task_message::for_member : 0;
    const task_message m{id, function, rank_, n.index, place.slot, static_cast<std::uint32_t>(bytes), 0, flags, 0};
    post_.send(place.rank, message::call, m, arguments, bytes);
    note_sent(n, id, place.rank, place.slot);
    if (place.rank != rank_) sent_arguments_.add(n.index, bytes);  // here nothing is under way
    elsewhere_.note_sent();
    if (place.rank != rank_ && !running_.is_driver()) send_soon();
  } else {
    task* const t = records_.make(id, function, arguments, bytes, inputs, input_count, nullptr);
    t->home_index = n.index;
    t->for_member = running_->for_member;
    elsewhere_.note_sent();
    if (handle.state == state::pending) {
      fetches_.need(handle);
      graph_.add_link(handle, link_kind::call).pointer = t;
      note_sent(n, id, no_index, no_index, t);
    } else {
      send_call(handle, t);
    }
  }
  if (throttle_.is_time_to_help() || ledger_.memory().is_short()) relieve();
  return n;
}

/// A task that goes on must not keep what it calls waiting. Calls that follow each other at once leave together.
MANTA_DECL void engine::send_soon() {
  static const auto least = static_cast<std::uint64_t>(2'000 / base::nanoseconds_per_tick());
  const std::uint64_t now = base::ticks();
  if (pace_.is_time_to_send(now, least)) net_.pump(true);
}

MANTA_DECL void engine::send_call(node& handle, task* t) {
  node& result = graph_.nodes.at(t->home_index);
  if (result.state != state::pending) {  // it was cancelled
    if (handle.state == state::failed) handle.set(node::observed);
    elsewhere_.note_back();
    records_.free(t);
    return refs_.release(result);
  }
  if (handle.state == state::failed) {
    handle.set(node::observed);
    elsewhere_.note_back();
    records_.free(t);
    const store::failure& why = *store::failure_of(handle);
    completion_.fail(result,
         actor_failure(why.kind == store::failure::kind::actor
                           ? why.message
                           : "the actor never lived: its constructor failed: " + store::describe(why).substr(7)));
    if (why.kind == store::failure::kind::cancelled) result.set(node::observed);  // told already
    return refs_.release(result);
  }
  const actor_place place = actor_place_in(handle.bytes);
  refs_.add_calls(handle, 1);
  const std::uint8_t flags = t->for_member ? task_message::for_member : 0;
  const task_message m{t->id, t->function, rank_, t->home_index, place.slot, t->argument_bytes, 0, flags, 0};
  records_.send(place.rank, message::call, m, nullptr, t->arguments(), t->argument_bytes, t->inputs(), t->input_count);
  note_sent(result, t->id, place.rank, place.slot);
  if (place.rank != rank_) sent_arguments_.add(result.index, t->argument_bytes);  // here nothing is under way
  records_.free(t);
}

// --- where the actor lives

MANTA_DECL std::uint32_t engine::new_slot(invocation& call, std::uint32_t function,
                                      graph::request_ptr request, task* constructor) {
  const std::uint32_t index = slots_.take();
  actor_slot& slot = slots_[index];
  slot.object = call.actor;
  slot.type = call.actor_type;
  slot.function = function;
  slot.request = std::move(request);
  slot.constructor = constructor;
  if (slot.request && !slot.request->checkpoint.empty()) {
    slot.checkpoint.append(slot.request->checkpoint.data(), slot.request->checkpoint.size());
  }
  return index;
}

/// In a handler: it stands in line, or is refused at once if as many wait already as the actor's options allow.
MANTA_DECL void engine::on_call(std::uint32_t from, const std::byte* data, std::size_t bytes) {
  task_message m;
  std::memcpy(&m, data, sizeof m);
  actor_slot& slot = slots_[m.charge_or_slot];
  if (slot.is_bounded()) {
    const std::size_t waiting = slot.mailbox.size() + slot.in_line - slot.about_to_start();
    if (slot.dead.empty() && waiting >= static_cast<std::size_t>(slot.request->max_pending))
      return refuse_call(from, data);
    ++slot.in_line;
  }
  calls_.push(from, data, bytes);
  pace_.hurry();
}
MANTA_DECL void engine::refuse_call(std::uint32_t from, const std::byte* data) {
  task* const t = records_.read(from, data);
  actor_slot& slot = slots_[t->slot];
  ++slot.received;
  const store::failure_ptr why = busy_failure(wire::function_at(t->function).name(), slot.request->max_pending, rank_);
  invocation none(lock_);
  finish_foreign(t->home_rank, t->home_index, t->function, 0, nullptr, false, none, false, why, 0);
  if (slot.received == slot.ends_after) list_slot(t->slot);
  records_.free(t);
}

MANTA_DECL void engine::receive_call(const message_queue::view& v) {
  task_message m;
  std::memcpy(&m, v.data, sizeof m);
  actor_slot& slot = slots_[m.charge_or_slot];
  ++slot.received;
  if (slot.is_bounded()) --slot.in_line;
  if (slot.dead.empty() && slot.mailbox.empty() && (m.flags & task_message::has_inputs) == 0 && slot.gang == nullptr &&
      !slot.keeps_log() &&
      !slot.request->at_least_once && slot.may_start(m.function)) {
    store::failure_ptr why;
    running_task identity{m.id, m.function};
    identity.actor = slot.request.get();
    identity.for_member = (m.flags & task_message::for_member) != 0;
    invocation call(lock_, v.data + sizeof m, m.argument_bytes);
    call.self = slot.object;
    ++slot.active;
    bool ok = invoke(call, m.function, identity, why);
    if (!ok && why->fatal) slot.note_fatal(*why);
    lose_if_broken(slot, m.function, call, ok, why);
    finish_foreign(m.home_rank, m.home_index, m.function, 0, nullptr, false, call, ok, why, 0);
    return after_call(m.charge_or_slot);
  }
  task* t = records_.read(v.from, v.data);
  if (!slot.dead.empty()) {
    slot.mailbox.push_back(t);
    return fail_waiting(m.charge_or_slot);
  }
  slot.mailbox.push_back(t);
  stage(t);
}

MANTA_DECL void engine::list_slot(std::uint32_t index) {
  if (slots_.list(index)) pace_.hurry();
}

/// Starts the first call of the first listed actor, if it still may start, or ends it if it is time.
MANTA_DECL void engine::run_mailbox() {
  const std::uint32_t index = slots_.pop_listed();
  actor_slot& slot = slots_[index];
  if (!slot.used) return;  // it has ended since
  if (!slot.dead.empty()) return fail_waiting(index);
  if (slot.mailbox.empty()) return after_call(index, false);
  task* t = slot.take();
  if (t == nullptr) return;
  if (!has_inputs_here(*t)) {
    slot.mailbox.push_front(t);
    stage(t);
    return list_slot(index);  // for calls of others
  }
  ++slot.active;
  if (slot.gang != nullptr) return run_gang_call(index, t);
  if (!slot.mailbox.empty() && (slot.has_room() || slot.request->overlap_const)) list_slot(index);
  store::failure_ptr why = failures_.of_input(*t);
  const bool ran = why == nullptr;
  running_task identity{t->id, t->function, t->attempt};
  identity.actor = slot.request.get();
  identity.for_member = t->for_member;
  invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.self = slot.object;
  call.keeps_inputs = slot.keeps_log() || slot.request->at_least_once;
  bool ok = ran && invoke(call, t->function, identity, why);
  const bool found_it_broken = ran && !ok && why->fatal;
  if (found_it_broken) slot.note_fatal(*why);
  const bool is_lost = lose_if_broken(slot, t->function, call, ok, why);
  if ((found_it_broken || is_lost) && slot.request->at_least_once && slot.restarts < slot.request->restarts) {
    ++t->attempt;
    slot.mailbox.push_front(t);  // it is done again by the new actor
    return after_call(index);
  }
  const task ended = *t;
  if (slot.keeps_log() && ran && !slot.broken && slot.dead.empty() && !wire::function_at(t->function).looks_only) {
    log_call(slot, t);
  } else {
    records_.free(t);
  }
  finish_foreign(ended.home_rank, ended.home_index, ended.function, 0, nullptr, false, call, ok, why, 0);
  after_call(index);
}

MANTA_DECL void engine::after_call(std::uint32_t index, bool was_active) {
  actor_slot& slot = slots_[index];
  if (was_active) --slot.active;
  if (slot.broken && slot.dead.empty()) {
    if (slot.active != 0) return;  // calls that wait inside still hold the old object
    restart(index);
  }
  if (!slot.mailbox.empty()) return list_slot(index);
  if (slot.active != 0) return;
  if (!slot.dead.empty() && slot.request) end_slot(index, slot.dead);
  if (slot.received == slot.ends_after) {
    if (slot.request) end_slot(index, "it ended with its last handle");
    forget_past(slot);
    slots_.free(index);
  }
}

/// A call that has waited inside while another found the object broken has changed what is about to be thrown away: it
/// has failed. (Unless the actor ends of it, when nobody can tell.)
MANTA_DECL bool engine::lose_if_broken(const actor_slot& slot, std::uint32_t method, invocation& call, bool& ok,
                                   store::failure_ptr& why) const {
  if (!ok || !slot.broken || slot.restarts >= slot.request->restarts || wire::function_at(method).looks_only)
    return false;
  if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
  ok = false;
  why = lost_call_failure(slot.broken_by);
  return true;
}

/// Keeps a call for a restart; when there are enough of them the object is saved instead.
MANTA_DECL void engine::log_call(actor_slot& slot, task* t) {
  slot.log.push_back(t);
  if (slot.log.size() >= static_cast<std::size_t>(slot.request->checkpoint_every)) take_checkpoint(slot);
}

MANTA_DECL void engine::take_checkpoint(actor_slot& slot) {
  wire::buffer state;
  wire::sink out(state);
  const void* const object = slot.object;
  const auto save = slot.type->save;
  running_task identity{0, slot.function};  // for the watchdog
  const exec::current_task::scope running(running_, identity);
  ++slot.active;  // nothing else runs on it meanwhile
  try {
    {
      const outside user(lock_);
      save(object, out);
    }
    slot.checkpoint = std::move(state);
    journaling_.keep_state(*slot.request, slot.function, slot.checkpoint);
    if (members_.recovers() && slot.constructor != nullptr) {
      const checkpoint_message of_it{slot.constructor->id, slot.constructor->home_index, 0};
      post_.send(slot.constructor->home_rank, message::checkpoint, of_it,
                 slot.checkpoint.data(), slot.checkpoint.size());
    }
    while (!slot.log.empty()) records_.free(slot.log.pop_front());
  } catch (...) {  // the calls stay in the log, and the next one tries again
    store::failure f = store::current_failure();
    failures_.locate(f, "checkpoint of " + wire::demangle(wire::function_at(slot.function).mangled));
    unobserved_.note_failure(f);
  }
  --slot.active;
}

MANTA_DECL void engine::forget_past(actor_slot& slot) {
  while (!slot.log.empty()) records_.free(slot.log.pop_front());
  if (slot.constructor != nullptr) records_.free(std::exchange(slot.constructor, nullptr));
  slot.checkpoint = wire::buffer();
}

/// A method has said that the object is broken, and no call is under way: builds it anew from its checkpoint, or by its
/// constructor, does again what was done since, and goes on with the mailbox. If it may not be or fails, the actor
/// ends.
MANTA_DECL void engine::restart(std::uint32_t index) {
  actor_slot& slot = slots_[index];
  void* const old = slot.object;
  const auto destroy = slot.type->destroy;
  ++slot.active;
  running_task identity{0, slot.function, static_cast<std::uint32_t>(slot.restarts + 1)};
  identity.actor = slot.request.get();
  const exec::current_task::scope running(running_, identity);
  if (slot.constructor == nullptr || slot.restarts >= slot.request->restarts) {
    slot.dead = "a method found the actor broken: " + slot.broken_by +
                (slot.request->restarts > 0
                     ? "; it has been restarted " + std::to_string(slot.restarts) + " times, as often as it may be"
                     : "; with actor_options::restarts it would be built anew");
  } else {
    ++slot.restarts;
    try {
      {
        const outside user(lock_);
        destroy(old);
      }
      slot.object = nullptr;
      if (!slot.checkpoint.empty()) {
        wire::source in(slot.checkpoint.data(), slot.checkpoint.size());
        const auto load = slot.type->load;
        const outside user(lock_);
        slot.object = load(in);
      } else {
        task& t = *slot.constructor;
        invocation call(lock_, t.arguments(), t.argument_bytes, t.inputs(), t.seen_inputs());
        call.keeps_inputs = true;
        const store::looking inputs(call.inputs, call.input_count);
        run_function(call, t.function, identity);
        slot.object = call.actor;
      }
      task_list again;
      std::swap(again, slot.log);
      while (!again.empty()) {
        task* const t = again.pop_front();
        slot.log.push_back(t);
        running_task done_again{t->id, t->function, t->attempt};
        done_again.actor = slot.request.get();
        const exec::current_task::scope again_running(running_, done_again);
        invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
        call.self = slot.object;
        call.keeps_inputs = true;
        try {
          const store::looking inputs(call.inputs, call.input_count);
          run_function(call, t->function, done_again);
        } catch (const fatal&) {
          throw;
        } catch (const isolated_failure& e) {
          if (e.why->fatal) throw;
        } catch (...) {  // as it did the first time
        }
        if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
      }
      slot.broken = false;
    } catch (...) {
      slot.dead = "it could not be built anew after a method had found it broken (" + slot.broken_by +
                  "): " + store::current_failure().details.what;
    }
  }
  --slot.active;
}

/// The actor's object is destroyed, its resources are given back; the slot stays to answer late calls.
MANTA_DECL void engine::end_slot(std::uint32_t index, const std::string& why) {
  actor_slot& slot = slots_[index];
  if (slot.dead.empty()) slot.dead = why;
  if (journaling_.keeps_state(*slot.request)) {
    if (!phase_.is_stopping() && !slot.unwound) {
      journaling_.forget_state(*slot.request);
    } else if (slot.object != nullptr && !slot.broken && !slot.log.empty()) {
      take_checkpoint(slot);  // the next start goes on with it
    }
  }
  void* const object = std::exchange(slot.object, nullptr);
  const graph::request_ptr request = std::exchange(slot.request, nullptr);
  const auto destroy = slot.type->destroy;
  if (members_.recovers() && slot.constructor != nullptr) {
    const checkpoint_message none{slot.constructor->id, slot.constructor->home_index, 0};
    post_.send(slot.constructor->home_rank, message::checkpoint, none);
  }
  forget_past(slot);
  if (slot.gang != nullptr && slot.gang->member == 0) {
    for (std::uint32_t member = 1; member < slot.member_slots.size(); ++member) {
      if (slot.member_slots[member] == no_index) continue;
      const end_actor_message end{slot.member_slots[member], 0, slot.forwarded};
      post_.send(slot.gang->ranks[member], message::end_actor, end);
    }
  }
  wire::buffer bytes;
  request->write(bytes);
  post_.send(0, message::actor_gone, index_message{index, 0}, bytes.data(), bytes.size());
  running_task identity{0, slot.function};
  identity.for_member = slot.gang != nullptr;
  const exec::current_task::scope running(running_, identity);
  if (object != nullptr) {
    ++slot.active;  // the destructor may wait, and what comes meanwhile must not end the slot
    {
      const outside user(lock_);
      destroy(object);
    }
    --slot.active;
  }
}

MANTA_DECL void engine::kill_actor(node& handle, const std::string& why) {
  wait_for_end(handle, false);
  if (detached_.remove(&handle)) refs_.release(handle);
  if (handle.state != state::ready) return;
  const actor_place place = actor_place_in(handle.bytes);
  post_.send(place.rank, message::kill_actor, end_actor_message{place.slot, 0, 0}, why.data(), why.size());
  if (!members_.recovers()) return;
  const auto [home_rank, home_index] = refs_.home_of(handle);
  post_.send(home_rank, message::checkpoint, checkpoint_message{0, home_index, 0});
}

/// In a handler: marks it, the rest is done at the top level.
MANTA_DECL void engine::on_kill(std::uint32_t index, std::string why) {
  actor_slot& slot = slots_[index];
  if (!slot.dead.empty()) return;
  slot.dead = std::move(why);
  for (running_task* r = started_.first(); r != nullptr; r = r->next) {
    r->stop = r->stop || (r->actor != nullptr && r->actor == slot.request.get());
  }
  list_slot(index);
}

MANTA_DECL void engine::on_end_actor(const end_actor_message& m) {
  slots_[m.slot].ends_after = m.calls;
  slots_[m.slot].unwound = m.unwinding != 0;
  list_slot(m.slot);
}

/// The calls that a dead actor will not do any more. One that is still linked to its inputs comes back when they are
/// here.
MANTA_DECL void engine::fail_waiting(std::uint32_t index) {
  actor_slot& slot = slots_[index];
  while (task* t = slot.mailbox.take([](const task& each) { return each.missing == 0; })) {
    invocation none(lock_);
    const store::failure_ptr why = actor_failure(slot.dead);
    if (slot.gang != nullptr && slot.gang->member != 0) {  // another part has sent it on
      tell_leader(*t->gang, none, why, no_index);
    } else {
      finish_foreign(t->home_rank, t->home_index, t->function, 0, nullptr, false, none, false, why, 0);
    }
    records_.free(t);
  }
  if (slot.mailbox.empty()) after_call(index, false);
}

}  // namespace manta::exec
