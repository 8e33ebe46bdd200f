// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/restarts.hpp"

namespace manta::exec {

MANTA_DECL bool actor_restarts::lose_if_broken(const actor_slot& slot, std::uint32_t method, invocation& call, bool& ok,
                                               store::failure_ptr& why) const {
  // The method has ended well on an object that another method has found broken meanwhile. What it changed goes with
  // the object, so its caller must not believe in the result.
  if (!ok || !slot.broken || slot.restarts >= slot.request->restarts || wire::function_at(method).looks_only)
    return false;
  if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
  ok = false;
  why = lost_call_failure(slot.broken_by);
  return true;
}

MANTA_DECL void actor_restarts::log(actor_slot& slot, task* t) {
  slot.log.push_back(t);
  if (slot.log.size() >= static_cast<std::size_t>(slot.request->rules.checkpoint_every)) save(slot);
}

MANTA_DECL void actor_restarts::save(actor_slot& slot) {
  running_task identity{0, slot.function};  // for the watchdog
  const exec::current_task::scope running(below_.running, identity);
  ++slot.active;  // nothing else runs on it meanwhile
  try {
    wire::buffer state;
    void* const copy = write(slot, state);
    // The error is reported once, not at each checkpoint.
    const bool is_first_copy = copy != nullptr && slot.saved == nullptr;
    drop_copy(slot);
    slot.saved = copy;
    slot.checkpoint = copy == nullptr ? std::move(state) : wire::buffer();
    if (copy == nullptr) send_checkpoint(slot);
    while (!slot.log.empty()) below_.records.free(slot.log.pop_front());
    if (is_first_copy && (own_.members.recovers() || below_.journaling.keeps_state(*slot.request)))
      throw error(
          "manta: the state has a future or a handle of an actor: it is kept for restarts on this rank, but neither in "
          "the journal nor for another rank, should this one die. Pass futures and handles with the calls instead");
  } catch (...) {
    store::failure f = store::current_failure();
    own_.failures.locate(f, "checkpoint of " + wire::demangle(wire::function_at(slot.function).mangled));
    below_.unobserved.note_failure(f);
  }
  --slot.active;
}

/// References in bytes are given back only when the bytes are read, and only once: a state with futures or handles is
/// read at once, and the copy has them.
inline void* actor_restarts::write(const actor_slot& slot, wire::buffer& state) {
  const void* const object = slot.object;
  const auto [save, load] = std::pair(slot.type->save, slot.type->load);
  wire::sink out(state);
  const outside user(below_.lock);
  save(object, out);
  if (!out.holds_references()) return nullptr;
  wire::source in(state.data(), state.size());
  return load(in);
}

inline void actor_restarts::send_checkpoint(const actor_slot& slot) {
  below_.journaling.keep_state({*slot.request, slot.function, slot.made_with}, slot.checkpoint);
  if (!own_.members.recovers() || slot.constructor == nullptr) return;
  const checkpoint_message of_it{slot.constructor->id, slot.constructor->home_index, 0};
  own_.post.send(slot.constructor->home_rank, message::checkpoint, of_it, slot.checkpoint.data(),
                 slot.checkpoint.size());
}

MANTA_DECL void actor_restarts::drop_copy(actor_slot& slot) {
  void* const copy = std::exchange(slot.saved, nullptr);
  if (copy == nullptr) return;
  const auto destroy = slot.type->destroy;
  const outside user(below_.lock);
  destroy(copy);
}

MANTA_DECL void actor_restarts::forget(actor_slot& slot) {
  while (!slot.log.empty()) below_.records.free(slot.log.pop_front());
  if (slot.constructor != nullptr) below_.records.free(std::exchange(slot.constructor, nullptr));
  slot.checkpoint = wire::buffer();
}

MANTA_DECL void actor_restarts::restart(actor_slot& slot) {
  ++slot.active;
  running_task identity{0, slot.function, static_cast<std::uint32_t>(slot.restarts + 1)};
  identity.actor = slot.request.get();
  const exec::current_task::scope running(below_.running, identity);
  if (slot.constructor == nullptr || slot.restarts >= slot.request->restarts) {
    slot.dead = "a method found the actor broken: " + slot.broken_by +
                (slot.request->restarts > 0
                     ? base::text("; it has been restarted {} times, as often as it may be", slot.restarts)
                     : "; with actor_options::restarts it would be built anew");
  } else {
    ++slot.restarts;
    try {
      build(slot, identity);
      repeat(slot);
      slot.broken = false;
    } catch (...) {
      slot.dead = "it could not be built anew after a method had found it broken (" + slot.broken_by +
                  "): " + store::current_failure().details.what;
    }
  }
  --slot.active;
}

MANTA_DECL void actor_restarts::build(actor_slot& slot, running_task& identity) {
  // The old object goes first: it may hold what the new one needs, such as a port or a file.
  void* const old = slot.object;
  {
    const auto destroy = slot.type->destroy;
    const outside user(below_.lock);
    destroy(old);
  }
  slot.object = nullptr;
  // A copy with handles is written once more, for reading it must leave it as it is: the actor
  // may have to be built again.
  if (slot.saved != nullptr || !slot.checkpoint.empty()) {
    wire::buffer again;
    const void* const copy = slot.saved;
    const auto [save, load] = std::pair(slot.type->save, slot.type->load);
    const outside user(below_.lock);
    if (copy != nullptr) {
      wire::sink out(again);
      save(copy, out);
    }
    const wire::buffer& state = copy != nullptr ? again : slot.checkpoint;
    wire::source in(state.data(), state.size());
    slot.object = load(in);
    return;
  }
  task& t = *slot.constructor;
  invocation call(below_.lock, t.arguments(), t.argument_bytes, t.inputs(), t.seen_inputs());
  call.keeps_inputs = true;
  const store::looking inputs(call.inputs, call.input_count);
  below_.runner.run_function(call, t.function, identity);
  slot.object = call.actor;
}

MANTA_DECL void actor_restarts::repeat(actor_slot& slot) {
  // The log is refilled as its calls are repeated, for they count as done once more if the actor breaks again.
  task_list again;
  std::swap(again, slot.log);
  while (!again.empty()) {
    task* const t = again.pop_front();
    slot.log.push_back(t);
    running_task done_again{t->id, t->function, t->attempt};
    done_again.actor = slot.request.get();
    const exec::current_task::scope again_running(below_.running, done_again);
    invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
    call.self = slot.object;
    call.keeps_inputs = true;
    try {
      const store::looking inputs(call.inputs, call.input_count);
      below_.runner.run_function(call, t->function, done_again);
    } catch (const fatal&) {
      throw;
    } catch (const isolated_failure& e) {
      if (e.why->fatal) throw;
    } catch (...) {  // as it did the first time
    }
    if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
  }
}

}  // namespace manta::exec
