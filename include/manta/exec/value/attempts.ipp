// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/clock.hpp"
#include "manta/base/error.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/value/attempts.hpp"

namespace manta::exec {

MANTA_DECL void attempts::start_timer(node& n, std::int64_t ns, std::uint32_t attempt) {
  n.set(node::timed);
  clock_.start({ns, id_of(n), n.index, attempt, 0});
}

MANTA_DECL void attempts::start_timer_of_call(node& n, std::int64_t ns, std::int64_t limit) {
  n.set(node::timed);
  clock_.start({ns, n.sent.id, n.index, 0, limit});
}

MANTA_DECL void attempts::stop_timer(node& n) {
  n.reset(node::timed);
  clock_.stop([this](const task_clock::timer& t) { return is_due_for(t); });
}

MANTA_DECL bool attempts::is_due_for(const task_clock::timer& t) {
  const node& n = own_.graph.nodes.at(t.index);
  if (!n.has(node::timed) || n.state != state::pending) return false;
  if (n.form != form::record) return n.sent.id == t.id;
  return n.record->id == t.id && n.record->attempt == t.attempt;
}

MANTA_DECL void attempts::look_at_clock() {
  const std::int64_t now = base::now_ns();
  for (task_clock::timer first{}; clock_.take_due(now, first);) {
    // Timers are not searched when a task ends: a timer whose task is gone, or has begun its next
    // attempt, is skipped here.
    if (!is_due_for(first)) continue;
    node& n = own_.graph.nodes.at(first.index);
    n.reset(node::timed);
    clock_.note_over();
    if (n.form != form::record) {
      others_.withdraw(others_.rank, n, call_timeout_failure(task_name(n), first.limit), cancel_message::expired);
    } else if (n.record->place == graph::place::resting) {
      const graph::request* const wanted = n.record->request.get();
      if (wanted != nullptr && wanted->isolate && wanted->due != graph::request::never) {
        start_timer(n, wanted->due, n.record->attempt);
      }
      others_.task_ready(others_.rank, n);
    } else {
      others_.withdraw(others_.rank, n, timeout_failure(task_name(n), n.record->request->deadline),
                       cancel_message::expired);
    }
  }
}

MANTA_DECL bool attempts::overdue(node& n) {
  if (base::now_ns() < n.record->request->due) {
    stop_timer(n);
    return false;
  }
  completion_.fail(n, timeout_failure(task_name(n), n.record->request->deadline));
  own_.refs.release(n);
  return true;
}

MANTA_DECL bool attempts::may_retry(const node& n) const {
  if (n.form != form::record || n.record->request == nullptr || phase_.is_stopping()) return false;
  return static_cast<int>(n.record->attempt) < n.record->request->retries;
}

MANTA_DECL bool attempts::judge(node& n, const store::failure_ptr& why) {
  const auto predicate = n.record->request->retry.only_if;
  if (predicate == nullptr) return retry(n, why);
  own_.refs.hold(n);
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
  own_.refs.release(n);
  return ended || (again && !phase_.is_stopping() && retry(n, why));
}

MANTA_DECL bool attempts::retry(node& n, const store::failure_ptr& why) {
  // A further attempt would fail in the same way.
  for (const auto final : {store::failure::kind::cancelled, store::failure::kind::timeout,
                           store::failure::kind::unschedulable, store::failure::kind::serialization}) {
    if (why->kind == final) return false;
  }
  if (n.has(node::timed)) stop_timer(n);  // it had started in time
  task& t = *n.record;
  const graph::request& wanted = *t.request;
  if (wanted.isolate && base::now_ns() >= wanted.due) return false;  // its deadline is for the end too
  own_.counts.note_retry(n.function);
  // The pause doubles with each attempt.
  const int shift = t.attempt < 30 ? t.attempt : 30;
  ++t.attempt;
  if (wanted.retry.after > 0) {
    const bool longest = wanted.retry.after > (INT64_MAX / 4) >> shift;
    t.place = graph::place::resting;
    start_timer(n, base::now_ns() + (longest ? INT64_MAX / 4 : wanted.retry.after << shift), t.attempt);
  } else {
    if (wanted.isolate && wanted.due != graph::request::never) start_timer(n, wanted.due, t.attempt);
    others_.task_ready(others_.rank, n);
  }
  return true;
}

MANTA_DECL void attempts::retry_or_fail_later(node& n, const store::failure_ptr& why) {
  if (n.record->request->retry.only_if == nullptr) {
    if (retry(n, why)) return;
    completion_.fail(n, why);
    return own_.refs.release(n);
  }
  n.record->place = graph::place::resting;
  own_.refs.hold(n);
  to_judge_.push_back({n.index, new store::failure_ptr(why)});
}

MANTA_DECL void attempts::judge_failures() {
  while (!to_judge_.empty()) {
    const judgement j = to_judge_.back();
    to_judge_.pop_back();
    node& n = own_.graph.nodes.at(j.index);
    if (n.state == state::pending && !(may_retry(n) && judge(n, *j.why))) {
      completion_.fail(n, *j.why);
      own_.refs.release(n);
    }
    own_.refs.release(n);
    delete j.why;
  }
}

MANTA_DECL void attempts::withdraw_resting(const store::failure_ptr& why) {
  const auto runs_still = [this](const task_clock::timer& t) { return is_due_for(t); };
  for (const task_clock::timer& t : clock_.all(runs_still)) {
    if (!runs_still(t)) continue;
    node& n = own_.graph.nodes.at(t.index);
    if (n.form == form::record && n.record->place == graph::place::resting) others_.withdraw(others_.rank, n, why, 0);
  }
}

}  // namespace manta::exec
