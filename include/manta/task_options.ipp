// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The request of a task to the scheduler, from its options.
#pragma once

#include "manta/base/text.hpp"
#include "manta/request.ipp"
#include "manta/task_options.hpp"

namespace manta::detail {

/// Has the task no condition beside its deadline and its retries?
inline bool asks_for_no_place(const task_options& o) {
  return o.name.empty() && o.cpus == 1 && !base::is_nan(o.gpus) && o.gpus == 0 && o.resources.empty() && o.rank == -1 &&
         o.node == -1 && o.except == places() && !o.near.valid() && !o.spread && o.priority == 0 && !o.isolate &&
         o.duration.count() == 0 && !o.in.valid() && o.bundle < 0 && !o.journaled;
}

MANTA_DECL graph::request_ptr make_request(exec::engine& e, const task_options& o, bool gang) {
  if (!gang && (o.ranks != 0 || o.nodes != 0)) {
    throw error(
        "manta: task_options::ranks and nodes are for gang tasks: have the function take manta::team as its "
        "first parameter, or leave them out");
  }
  if (!gang && asks_for_no_place(o) && o.retries == 0 && o.deadline == std::chrono::nanoseconds::max()) return nullptr;
  if (o.retries < 0) throw error(base::text("manta: task_options::retries = {} is negative", o.retries));
  if (o.duration.count() < 0) throw error("manta: task_options::duration is negative; leave it out if it is not known");
  auto* const request = new graph::request;
  graph::request_ptr owner(request);
  fill_request(*request, o, "task_options", gang);
  request->priority = o.priority;
  request->retries = o.retries;
  request->retry.only_if = o.retry_if;
  request->retry.after = o.retry_after.count();
  request->duration = o.duration.count();
  request->journaled = o.journaled;
  if (o.deadline != std::chrono::nanoseconds::max()) {
    request->deadline = o.deadline.count();
    request->due = deadline_after(o.deadline);
  }
  require_placeable(e, *request, o, o.name.empty() ? "this task" : "task '" + o.name + "'");
  return owner;
}

MANTA_DECL exec::call_terms make_call_terms(const task_options& o) {
  if (!asks_for_no_place(o) || o.ranks != 0 || o.nodes != 0 || o.retry_if != nullptr || o.retry_after.count() != 0) {
    throw error(
        "manta: a call of an actor takes .deadline and .retries; its other options are those of the actor, which are "
        "given to spawn: spawn<A>({.cpus = 2}, args...)");
  }
  if (o.retries < 0) throw error(base::text("manta: a call's .retries = {} is negative", o.retries));
  exec::call_terms terms{.retries = o.retries};
  if (o.deadline != std::chrono::nanoseconds::max()) terms.deadline = o.deadline.count();
  return terms;
}

}  // namespace manta::detail
