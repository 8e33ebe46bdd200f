// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deadlines, further attempts, and submitters that run ahead. All three are
// the matter of a task's home: it has the clock, judges failures, and knows
// how many of its tasks have not ended.
#pragma once

#include <algorithm>

#include "manta/exec/engine.hpp"

namespace manta::exec {

// --- the clock

MANTA_DECL void engine::start_timer(node& n, std::int64_t ns, std::uint32_t attempt) {
  n.set(node::timed);
  clock_.start({ns, id_of(n), n.index, attempt});
}

MANTA_DECL void engine::stop_timer(node& n) {
  n.reset(node::timed);
  clock_.stop([this](const task_clock::timer& t) { return is_due_for(t); });
}

MANTA_DECL bool engine::is_due_for(const task_clock::timer& t) {
  const node& n = graph_.nodes.at(t.index);
  return n.has(node::timed) && n.state == state::pending && n.form == form::record && n.record->id == t.id &&
         n.record->attempt == t.attempt;
}

MANTA_DECL void engine::look_at_clock() {
  const std::int64_t now = base::now_ns();
  for (task_clock::timer first{}; clock_.take_due(now, first);) {
    if (!is_due_for(first)) continue;
    node& n = graph_.nodes.at(first.index);
    n.reset(node::timed);
    clock_.note_over();
    if (n.record->place == graph::place::resting) {
      const graph::request* const wanted = n.record->request.get();
      if (wanted != nullptr && wanted->isolate && wanted->due != graph::request::never) {
        start_timer(n, wanted->due, n.record->attempt);
      }
      task_ready(n);
    } else {
      withdraw(n, timeout_failure(task_name(n), n.record->request->deadline), cancel_message::expired);
    }
  }
}

/// A task of ours with a running clock is about to start: too late?
MANTA_DECL bool engine::overdue(node& n) {
  if (base::now_ns() < n.record->request->due) {
    stop_timer(n);
    return false;
  }
  completion_.fail(n, timeout_failure(task_name(n), n.record->request->deadline));
  refs_.release(n);
  return true;
}

// --- further attempts

MANTA_DECL bool engine::may_retry(const node& n) const {
  if (n.form != form::record || n.record->request == nullptr || phase_.is_stopping()) return false;
  return static_cast<int>(n.record->attempt) < n.record->request->retries;
}

/// At the top level: runs it again if the user's predicate agrees. True if the node needs nothing more.
MANTA_DECL bool engine::judge(node& n, const store::failure_ptr& why) {
  const auto predicate = n.record->request->retry.only_if;
  if (predicate == nullptr) return retry(n, why);
  refs_.hold(n);
  n.record->place = graph::place::resting;  // it may be cancelled meanwhile
  bool again = false;
  {
    const run_phase::busy with_user(phase_);
    {
      const outside user(lock_);
      try {
        again = predicate(task_failed(store::describe(*why), why->details));
      } catch (...) {
        // then it is not run again
      }
    }
  }
  const bool ended = n.state != state::pending;
  refs_.release(n);
  return ended || (again && !phase_.is_stopping() && retry(n, why));
}

MANTA_DECL bool engine::retry(node& n, const store::failure_ptr& why) {
  for (const auto final : {store::failure::kind::cancelled, store::failure::kind::timeout,
                           store::failure::kind::unschedulable, store::failure::kind::serialization}) {
    if (why->kind == final) return false;
  }
  if (n.has(node::timed)) stop_timer(n);  // it had started in time
  task& t = *n.record;
  const graph::request& wanted = *t.request;
  if (wanted.isolate && base::now_ns() >= wanted.due) return false;  // its deadline is for the end too
  const int shift = t.attempt < 30 ? t.attempt : 30;
  ++t.attempt;
  if (wanted.retry.after > 0) {
    const bool longest = wanted.retry.after > (INT64_MAX / 4) >> shift;
    t.place = graph::place::resting;
    start_timer(n, base::now_ns() + (longest ? INT64_MAX / 4 : wanted.retry.after << shift), t.attempt);
  } else {
    if (wanted.isolate && wanted.due != graph::request::never) start_timer(n, wanted.due, t.attempt);
    task_ready(n);
  }
  return true;
}

/// In a handler: a predicate is the user's code and has to wait for the top level.
MANTA_DECL void engine::retry_or_fail_later(node& n, const store::failure_ptr& why) {
  if (n.record->request->retry.only_if == nullptr) {
    if (retry(n, why)) return;
    completion_.fail(n, why);
    return refs_.release(n);
  }
  n.record->place = graph::place::resting;
  refs_.hold(n);
  to_judge_.push_back({n.index, new store::failure_ptr(why)});
}

MANTA_DECL void engine::judge_failures() {
  while (!to_judge_.empty()) {
    const judgement j = to_judge_.back();
    to_judge_.pop_back();
    node& n = graph_.nodes.at(j.index);
    if (n.state == state::pending && !(may_retry(n) && judge(n, *j.why))) {
      completion_.fail(n, *j.why);
      refs_.release(n);
    }
    refs_.release(n);
    delete j.why;
  }
}

// --- submitters that run ahead

MANTA_DECL bool engine::may_get_room() { return throttle_.may_get_room(ledger_.memory().is_short(), unfinished()); }

MANTA_DECL void engine::hold_back() {
  if (phase_.is_stopping() || !throttle_.may_hold()) return;
  while (throttle_.is_ahead(unfinished()) || may_get_room()) {
    const throttle::state before{unfinished(), ledger_.memory().charged()};
    const bool was_ahead = throttle_.is_ahead(before.unfinished);
    wait_record room;
    room.remaining = 1;
    room.deadline = base::now_ns() + throttle::patience_ns;
    throttle_.hold(room);
    wait(room);
    throttle_.release(room);
    if (room.over()) return;
    throttle_.note_patience(before, {unfinished(), ledger_.memory().charged()}, was_ahead);
  }
}

MANTA_DECL void engine::let_go() {
  if (!throttle_.has_room(unfinished()) || may_get_room()) return;
  for (wait_record* const each : throttle_.held()) {
    each->remaining = 0;
    waiters_.wake(*each);
  }
}

}  // namespace manta::exec
