// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// cancel: a task whose result nobody needs any more.
//
//   auto f = manta::async<search>(problem);
//   manta::cancel(f);                          // or with what it has submitted: manta::cancel(f, {.children = true})
#pragma once

#include "manta/future.hpp"

namespace manta {

/// What else is cancelled.
struct cancel_options {
  /// Also the unfinished tasks that it has submitted, those that it submits from now on, and so on down.
  bool children = false;
};

/// Fails the future with `cancelled` at once, and whatever depends on it. A task, or a call of an actor, that has not
/// started never will, wherever it waits. One that runs is not interrupted: it sees this_task::stop_requested(), and
/// its result is ignored. It is not retried. Returns false, and does nothing, if the task had ended or if the future is
/// a reservation's ready().
///
/// With `children`, tasks submitted by it that have not ended are cancelled too. Descendants are reached only through
/// unfinished tasks: a child that has ended does not lead to its own children. Each rank concerned looks through its
/// tasks.
///
/// May be called on any rank. On the rank that made the future it sends at most one message and does not wait;
/// elsewhere it waits for that rank's answer. A task that starts while the request is on its way counts as running.
template <class T>
bool cancel(const future<T>& f, cancel_options options = {}) {
  exec::engine& e = exec::engine::here("cancel");
  const exec::engine::guard g(e);
  return e.cancel(detail::access::of(f).node("cancel"), options.children);
}

}  // namespace manta
