// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// cancel: ends a task whose result nobody needs any more.
//
//   auto f = manta::async<search>(problem);
//   manta::cancel(f);
//   manta::cancel(f, {.children = true});      // with the tasks that f's task has submitted
#pragma once

#include "manta/future.hpp"

namespace manta {

/// What cancel reaches besides the task itself.
struct cancel_options {
  /// Cancel also the unfinished tasks that the task has submitted or submits from now on, and their children in turn.
  bool children = false;
};

/// Fails the future with `cancelled` at once, and all tasks that depend on it. A task, or a call of an actor, that has
/// not started never starts. A running task is not interrupted: it sees this_task::stop_requested(), and its result is
/// ignored. A cancelled task is not retried. Returns false, and does nothing, if the task has ended or if the future is
/// a reservation's ready().
///
/// With `children`, cancels also the unfinished tasks that the task has submitted, and so on downwards. It reaches
/// descendants only through unfinished tasks: a child that has ended does not lead to its own children.
///
/// May be called on any rank. On the rank that made the future it sends at most one message and does not wait;
/// elsewhere it waits for that rank's answer. A task that starts while the request is on its way counts as running.
template <class T>
bool cancel(const future<T>& f, cancel_options options = {}) {
  exec::engine& e = exec::engine::here("cancel");
  const exec::engine::guard g(e);
  return e.questions().cancel(detail::access::of(f).node("cancel"), options.children);
}

}  // namespace manta
