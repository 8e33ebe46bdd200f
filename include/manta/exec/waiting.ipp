// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Waiting never holds a rank. A stack that waits polls where it stands as long
// as there is nothing to run; when there is, it is left as it is and the
// service loop runs on a pooled stack, until what it waits for is there. The
// order at the top level is always: poll, run, pump.
//
// After a task, run/turns.hpp says whose turn it is. A waiter that runs the tasks
// it waits for on its own stack makes way between them as soon as somebody else
// can go on.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::watch(node& n, wait_record& record, std::uint32_t position) {
  fetches_.need(n);
  link& l = graph_.add_link(n, link_kind::waiter);
  l.pointer = &record;
  l.index = position;
  if (record.first == nullptr) record.first = &n;
}

/// Leaves this stack for `next`, or if that is null for the service loop; returns when somebody goes on with it.
MANTA_DECL void engine::leave_stack(context* next) {
  const int depth = lock_.depth();
  next != nullptr ? stacks_->park_and_switch(*next) : stacks_->park();
  lock_.set_depth(depth);
}

MANTA_DECL void engine::wait(wait_record& record) {
  if (record.over()) return;
  running_task& task = running_.get();
  record.task = &task;
  waiters_.add(record);
  if (!somebody_can_go_on()) net_.pump(true);
  for (bool others_ran = false;;) {
    running_.leave();
    phase_.set_resting(true);
    const bool any = progress();
    phase_.set_resting(false);
    if (record.over()) break;
    // when the time is up at once the others still get a turn, or a loop around such a wait would starve them
    const bool others = somebody_can_go_on();
    if (record.deadline != wait_record::never && (others_ran || !others) && base::now_ns() >= record.deadline) {
      if (!others_ran && pace_.looked_in_vain()) report_blocked(started_tasks(), !local_.empty());
      break;
    }
    others_ran = others_ran || others;
    if (others) {
      const bool kept = turns_.is_kept() && runnable();
      if (turns_.is_kept() && !kept && pace_.looked_in_vain())
        report_blocked(started_tasks(),
                       !local_.empty());  // stacks that only poll, perhaps for what rank 0 has not sent yet
      context* const next = kept ? nullptr : turns_.next_stack(has_calls());
      record.parked = &stacks_->current();
      leave_stack(next);
      record.parked = nullptr;
      record.queued = false;
    } else if (any) {
      awake();
      net_.pump(true);
    } else {
      idle();
    }
    if (record.over()) break;
  }
  awake();
  running_.resume(task);
  waiters_.remove(record);
}

/// The loop of a pooled stack.
MANTA_DECL void engine::service() {
  unsigned ran = 0;
  bool in_a_row = false;
  for (;;) {
    running_.leave();  // what ran last may have ended on another stack
    const std::uint64_t before = pace_.task_ended();
    pace_.set_follows(std::exchange(in_a_row, false));
    const bool kept = turns_.is_kept() && run_kept_turn();
    if (!kept && turns_.stacks_can_go_on()) {
      if (context* next = turns_.next_stack(has_calls())) {
        pace_.set_follows(false);
        stacks_->release_and_switch(*next);
        continue;
      }
    }
    if (kept || run_call() || run_task()) {
      stacks_->fresh_state();  // a rounding mode that the task set is its own
      const bool late = pace_.looked_long_ago(ticks_between_looks());
      if (!runnable()) {
        net_.pump(true);  // somebody may wait for what was made
      } else if (!late && (++ran & 31) != 0) {
        in_a_row = pace_.task_ended() != before;
        continue;
      }
      look_around(late);
      continue;
    }
    phase_.set_resting(true);
    const bool any = progress();
    phase_.set_resting(false);
    if (any) {
      awake();
      if (!runnable()) net_.pump(true);
    } else if (!somebody_can_go_on()) {
      idle();
    }
  }
}

/// A rank that runs one task after the other looks around at least that often.
MANTA_DECL std::uint64_t engine::ticks_between_looks() {
  static const auto most = static_cast<std::uint64_t>(20'000 / base::nanoseconds_per_tick());
  return most;
}

MANTA_DECL void engine::look_around(bool late) {
  pace_.note_look();
  progress();
  if (late) report_blocked(started_tasks(), !local_.empty());
  net_.pump(late);
}

/// Calls are short and somebody waits for them: those that are here go before the next task.
MANTA_DECL bool engine::run_call() {
  if (!has_calls() || !turns_.begin_call(calls_here(), has_tasks())) return false;
  slots_.has_listed() ? run_mailbox() : receive_call(calls_.pop());
  return true;
}

/// The newest task made here goes first, so that memory follows depth and not breadth; then what was sent here, in
/// order. Of eight tasks one is the oldest, or tasks that make tasks would starve what was sent here.
MANTA_DECL bool engine::run_task() {
  if (turns_.begin_task()) return run_oldest();
  if (!local_.empty()) {
    run_node(local_.pop_back());
  } else if (staging_.has_ready()) {
    run_staged(staging_.pop_ready());
  } else if (may_begin()) {
    run_message(inbox_.pop());
  } else {
    return false;
  }
  return true;
}

/// The task that has waited longest of those that run_task takes last.
MANTA_DECL bool engine::run_oldest() {
  turns_.begin_oldest();
  if (staging_.has_ready()) {
    run_staged(staging_.pop_ready());
  } else if (may_begin()) {
    run_message(inbox_.pop());
  } else if (!local_.empty()) {
    run_node(local_.pop_front());
  } else {
    return false;
  }
  return true;
}

/// Stacks that poll each other would keep all others from their turns. A stack that made way is older work than any
/// task that has not started, and goes on in turn.
MANTA_DECL bool engine::run_kept_turn() {
  if (!turns_.is_of_oldest()) return run_call();
  return !turns_.has_made_way() && run_oldest();
}

MANTA_DECL bool engine::receive() {
  bool any = net_.poll([this](int from, std::uint8_t kind, const std::byte* data, std::size_t bytes) {
    on_message(static_cast<std::uint32_t>(from), static_cast<message>(kind), data, bytes);
  });
  any |= net_.poll_bulk([this](std::uint64_t token) { fetches_.on_block(token); });
  return any;
}

/// What comes with time and from outside; runs nothing of the user's.
MANTA_DECL void engine::attend() {
  if (ledger_.memory().is_short() != (reported_.is_short != 0)) {
    report_blocked(reported_.tasks, reported_.own_work != 0, reported_.in_call != 0);
  }
  if (attempts_.has_timers()) attempts_.look_at_clock();
  if (ledger_.files().unwanted() != 0) ledger_.files().unmap_unwanted();
  if (lifeline_ != nullptr && lifeline_->news()) look_for_deaths();
  if (gang_watch_.has_broken()) end_broken_gangs();
  if (must_leave()) [[unlikely]] look_for_end();
  if (scheduler_ != nullptr) place_tasks();
}

MANTA_DECL bool engine::progress() {
  bool any = receive();
  if (fetches_.has_arrivals()) {
    fetches_.decode_arrived();
    any = true;
  }
  if (gang_ends_.has_complete()) finish_gangs();
  for (node* const n : foreign_drops_.empty() ? base::list<node*>() : foreign_drops_.take()) {
    if (graph_.nodes.owns(*n)) refs_.release(*n);  // else it outlived its runtime
  }
  if (attempts_.has_to_judge()) attempts_.judge_failures();
  if (phase_.has_to_drop()) drop_unstarted();
  if (waiters_.any_timed()) waiters_.check_deadlines(base::now_ns());
  if (waiters_.any_with_descriptor()) waiters_.check_descriptors();
  if (throttle_.holds()) let_go();
  attend();
  return any;
}

/// Nothing came and nothing can run: does by run/silence.hpp what is left to do.
MANTA_DECL void engine::idle() {
  const unsigned spins = net_.oversubscribed() ? 20 : 1000;
  if (!silence_.count_turn(spins)) return;
  net_.pump(true);
  report_blocked(waiting_tasks(), false);
  if (scheduler_ != nullptr) {
    if (scheduler_->waiting() != 0) decide();
    ask_for_work();
    look_for_deadlock();
    if (somebody_can_go_on()) return;
  }
  if (!silence_.is_longer_than(spins)) return;
  if (ledger_.offers() != 0) return ledger_.share_offered();
  const std::int64_t now = base::now_ns();
  const bool under_way = net_.bulk_outstanding() != 0 || net_.queued_bytes() != 0;
  const silence::step what = silence_.next_step(spins, now, under_way);
  if (what == silence::step::spin) return;
  if (what == silence::step::yield) {
    sched_yield();
    return silence_.note_yield(now, base::now_ns());
  }
  ledger_.pay_back();
  if (!gang_ends_.empty()) watch_gangs();
  if (scheduler_ != nullptr) watch_waiting_gangs();
  lock_.stay();
  const std::int64_t length =
      silence_.sleep_ns(now, under_way, [&] { return waiters_.sleep_until_deadline(attempts_.has_timers(), now); });
  waiters_.sleep(length);
}

/// At the top of the service loop or idle: every task that was started here and has not ended waits; idle, those too
/// that were sent ahead. Rank 0 counts with what it was told last, and sends more to a rank on which all wait.
MANTA_DECL void engine::report_blocked(std::uint32_t blocked, bool own_work, bool in_call) {
  const blocked_message now{blocked, own_work, in_call, ledger_.memory().is_short()};
  if (now == reported_) return;
  reported_ = now;
  if (scheduler_ != nullptr) {
    short_ranks_.set(rank_, now.is_short != 0);
    return scheduler_->blocked(rank_, blocked, own_work, in_call);
  }
  post_.send(0, message::blocked, now);
  net_.pump(true);
}

MANTA_DECL void engine::step() {
  phase_.set_resting(false);
  progress();
  if (somebody_can_go_on()) {
    wait_record once;  // over as soon as one other stack has had its turn
    once.remaining = 1;
    once.deadline = base::now_ns();
    wait(once);
  } else {
    if (pace_.looked_in_vain()) report_blocked(started_tasks(), !local_.empty());
  }
  net_.pump(true);
}

MANTA_DECL void engine::relieve() {
  constexpr std::size_t limit = std::size_t{4} << 20;
  progress();
  net_.pump(false);
  while (net_.queued_bytes() > limit) {
    progress();
    net_.pump(true);
    if (net_.oversubscribed()) sched_yield();
  }
  const std::size_t queued = unfinished();
  throttle_.is_ahead(queued) || may_get_room() ? hold_back() : throttle_.relax(queued);
}

/// Called after a task that ran on the stack of its waiter. The waiter makes way for stacks that can go on and for the
/// calls that are here, and goes on after them.
MANTA_DECL void engine::let_others_go_first() {
  if (pace_.looked_long_ago(ticks_between_looks())) look_around(true);
  pace_.put_others_off(ticks_between_looks());
  context* const next = turns_.next_stack_first(has_calls());
  if (next == nullptr && (!has_calls() || !stacks_->has_spare())) return;
  running_task& task = running_.get();
  turns_.make_way(&stacks_->current(), calls_here());
  leave_stack(next);
  running_.resume(task);
}

MANTA_DECL void engine::wait_for_end(node& n, bool may_inline) {
  while (n.state == state::pending) {
    if (may_inline && n.has(node::queued) && stacks_->room() > stacks_->stack_bytes() / 2) {
      local_.remove(n);
      running_task& before = running_.get();
      {
        inline_frame frame(*stacks_);
        run_node(n);
      }
      running_.resume(before);
      if (pace_.is_others_turn()) [[unlikely]] let_others_go_first();
      continue;
    }
    wait_record record;
    record.remaining = 1;
    watch(n, record, 0);
    wait(record);
    if (record.failed) unwatch(n, record);
    waiters_.throw_if_deadlocked(record);
  }
}

MANTA_DECL bool engine::wait_for_end(node& n, std::int64_t deadline) {
  if (n.state != state::pending) return true;
  wait_record record;
  record.remaining = 1;
  record.deadline = deadline;
  watch(n, record, 0);
  wait(record);
  if (n.state == state::pending) unwatch(n, record);
  return n.state != state::pending;
}

MANTA_DECL const void* engine::value(node& n, bool may_inline) {
  wait_for_end(n, may_inline);
  while (n.form == form::remote) [[unlikely]] {
    fetches_.fetch(n);
    wait_record record;
    record.remaining = 1;
    watch(n, record, 0);
    wait(record);
    if (record.failed) unwatch(n, record);
    waiters_.throw_if_deadlocked(record);
    wait_for_end(n, may_inline);
  }
  if (n.state == state::failed) {
    n.set(node::observed);
    const store::failure_ptr why = store::failure_of(n);
    store::raise(*why);
  }
  try {
    return store::decode(n);
  } catch (...) {
    store::raise(*failures_.codec("load()", n.type));
  }
}

}  // namespace manta::exec
