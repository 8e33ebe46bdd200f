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

struct cancel_options {
  bool children = false;  ///< also what the task has submitted or will, and what these have
};

/// The future fails with `cancelled` at once, and so does what depends on it. A task that has not started never will,
/// wherever it waits; one that runs is not interrupted, but sees this_task::stop_requested(), and its end is ignored. The
/// same for the call of an actor. False, and nothing happens, if it had ended or is a reservation's ready(). There are no retries.
/// With children: those that have not ended; one that has does not lead to its own. Each rank concerned looks through
/// its tasks.
/// May be called on any rank. Where the future was made it sends at most one message and does not wait; elsewhere it
/// waits for that rank's answer. A task that starts while the request is on its way counts as running.
template <class T>
bool cancel(const future<T>& f, cancel_options options = {}) {
  exec::engine& e = exec::engine::here("cancel");
  const exec::engine::guard g(e);
  return e.cancel(detail::access::of(f).node("cancel"), options.children);
}

}  // namespace manta
