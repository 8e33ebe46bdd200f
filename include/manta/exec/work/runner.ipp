// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/work/runner.hpp"

namespace manta::exec {

MANTA_DECL void runner::keep_inputs(const invocation& call) {
  for (std::uint32_t i = 0; i < call.input_count; ++i) {
    // A second attempt needs the inputs again, so no copy of them may be dropped meanwhile.
    if (store::large* const l = store::large_of(*call.inputs[i])) below_.ledger.keep(*l);
  }
}

/// Is the task not begun again after this failure, as far as it is known here?
inline bool is_last_attempt(const running_task& task) {
  return task.request == nullptr || static_cast<int>(task.attempt) >= task.request->retries ||
         task.request->retry.only_if != nullptr;
}

MANTA_DECL bool runner::invoke_and_keep(invocation& call, function_id function, running_task& identity,
                                        store::failure_ptr& why, std::uint64_t* ns) {
  // The function may move its arguments out of the message, so what is to be kept is copied first.
  const wire::buffer arguments(call.arguments, call.argument_bytes);
  call.arguments = arguments.data();
  call.keeps_inputs = true;
  identity.arguments = &arguments;
  identity.keeps_arguments = true;
  const bool ok = invoke(call, function, identity, why, ns);
  if (!ok && !identity.stop && is_last_attempt(identity)) others_.keep(others_.rank, call, identity, why);
  identity.keeps_arguments = false;
  return ok;
}

MANTA_DECL bool runner::invoke(invocation& call, function_id function, running_task& identity, store::failure_ptr& why,
                               std::uint64_t* ns) {
  if (has_to_keep(call, identity)) [[unlikely]]
    return invoke_and_keep(call, function, identity, why, ns);
  if (!below_.started.may_start()) [[unlikely]] {
    why = below_.failures.too_many_wait(identity, below_.started.count());
    return false;
  }
  const exec::current_task::scope running(below_.running, identity);
  identity.call = &call;
  call.task = identity.id;
  below_.started.add(identity);
  const bool timed = ns != nullptr || below_.departure.has_end() || below_.time_account.measures();
  // Where one task follows another, the end of the last is the begin of this one: reading the clock
  // costs a tenth of a small task.
  const std::uint64_t begins = below_.pace.take_begin(), start = begins != 0 || !timed ? begins : base::ticks();
  if (below_.time_account.measures()) below_.time_account.begin_task(identity, start);
  bool ok = true;
  if (call.keeps_inputs) keep_inputs(call);
  try {
    const store::looking inputs(call.inputs, call.input_count);
    run_function(call, function, identity);
  } catch (...) {
    ok = false;
    identity.has_failed = true;
    why = below_.failures.here(*below_.running, call.reads_arguments);
    if (keeps_failed_ && !identity.keeps_arguments && !identity.stop && is_last_attempt(identity))
      others_.keep(others_.rank, call, identity, why);  // which says why it is not kept
  }
  const std::uint64_t before = below_.pace.task_ended(), now = base::ticks();
  below_.pace.note_end(now);
  if (!identity.is_measured) [[likely]] {
    below_.time_account.count_task(identity, before, now);
  } else {
    below_.time_account.end_task(identity, now);
    below_.time_account.resume_at_once(running.before(), below_.running.is_driver(running.before()));
  }
  if (ns != nullptr || below_.departure.has_end()) {
    const std::uint64_t took = base::nanoseconds_of(now - start);
    if (ns != nullptr) *ns = took;
    if (below_.departure.has_end()) below_.late.learn(function, took);
  }
  below_.started.remove(identity);
  return ok;
}

MANTA_DECL bool runner::load_checkpoint(invocation& call, const graph::task& t, store::failure_ptr& why) {
  if (call.actor == nullptr) return true;
  std::string& state = t.request->checkpoint;
  wire::buffer known;
  if (state.empty() && below_.journaling.find_state({*t.request, t.function, t.digest}, known)) {
    state.assign(reinterpret_cast<const char*>(known.data()), known.size());
  }
  if (state.empty()) return true;
  wire::source in(reinterpret_cast<const std::byte*>(state.data()), state.size());
  try {
    const outside user(below_.lock);
    call.actor_type->destroy(std::exchange(call.actor, nullptr));
    call.actor = call.actor_type->load(in);
    return true;
  } catch (...) {
    why = below_.failures.here(*below_.running);
    return false;
  }
}

}  // namespace manta::exec
