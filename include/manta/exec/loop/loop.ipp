// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <algorithm>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/exec/loop/loop.hpp"

namespace manta::exec {

MANTA_DECL void rank_loop::leave_stack(context* next) {
  // The lock belongs to the thread, not to the stack: each stack puts back how often it had entered.
  const int depth = below_.lock.depth();
  next != nullptr ? stacks_->park_and_switch(*next) : stacks_->park();
  below_.lock.set_depth(depth);
}

MANTA_DECL void rank_loop::wait(wait_record& record) {
  if (record.over()) return;
  running_task& task = below_.running.get();
  record.task = &task;
  record.begin_ticks = base::ticks();
  record.frame = __builtin_frame_address(0);
  below_.waiters.add(record);
  pause(task, record.begin_ticks);
  // What this wait is for may stand in a batch that has not been sent.
  if (!somebody_can_go_on()) own_.net.pump(true);
  // One turn: look around, let another stack or task run, look whether the wait is over. It may end in the first look,
  // which costs no switch.
  for (bool others_ran = false;;) {
    below_.running.leave();
    below_.phase.set_resting(true);
    const bool any = progress();
    below_.phase.set_resting(false);
    if (record.over()) break;
    // when the time is up at once the others still get a turn, or a loop around such a wait would starve them
    const bool others = somebody_can_go_on();
    if (record.deadline != wait_record::never && (others_ran || !others) && base::now_ns() >= record.deadline) {
      if (!others_ran && below_.pace.looked_in_vain()) report_started();
      break;
    }
    others_ran = others_ran || others;
    if (others) {
      const bool kept = below_.turns.is_kept() && runnable();
      // Else there are only stacks that poll, perhaps for what rank 0 has not sent yet.
      if (below_.turns.is_kept() && !kept && below_.pace.looked_in_vain()) report_started();
      context* const next = kept ? nullptr : below_.turns.next_stack(below_.actors.has_work());
      record.parked = &stacks_->current();
      leave_stack(next);
      record.parked = nullptr;
      record.queued = false;
    } else if (any) {
      end_silence();
      own_.net.pump(true);
    } else {
      idle();
    }
    if (record.over()) break;
  }
  end_silence();
  go_on(task);
  below_.waiters.remove(record);
}

MANTA_DECL void rank_loop::service() {
  unsigned ran = 0;
  bool in_a_row = false;
  for (;;) {
    below_.running.leave();  // what ran last may have ended on another stack
    const std::uint64_t before = below_.pace.task_ended();
    below_.pace.set_follows(std::exchange(in_a_row, false));
    const bool kept = below_.turns.is_kept() && run_kept_turn();
    if (!kept && below_.turns.stacks_can_go_on()) {
      if (context* next = below_.turns.next_stack(below_.actors.has_work())) {
        below_.pace.set_follows(false);
        stacks_->release_and_switch(*next);
        continue;
      }
    }
    if (kept || run_next()) {
      below_.time_account.leave();
      stacks_->fresh_state();  // a rounding mode that the task set is its own
      const bool late = below_.pace.looked_long_ago(ticks_between_looks());
      if (!runnable()) {
        own_.net.pump(true);  // somebody may wait for what was made
      } else if (!late && (++ran & 31) != 0) {
        in_a_row = below_.pace.task_ended() != before;
        continue;
      }
      look_around(late);
      continue;
    }
    below_.phase.set_resting(true);
    const bool any = progress();
    below_.phase.set_resting(false);
    if (any) {
      end_silence();
      if (!runnable()) own_.net.pump(true);
    } else if (!somebody_can_go_on()) {
      idle();
    }
  }
}

MANTA_DECL std::uint64_t rank_loop::ticks_between_looks() {
  static const auto most = static_cast<std::uint64_t>(20'000 / base::nanoseconds_per_tick());
  return most;
}

MANTA_DECL void rank_loop::look_around(bool late) {
  below_.pace.note_look();
  progress();
  if (late) report_started();
  own_.net.pump(late);
}

MANTA_DECL bool rank_loop::run_call() {
  // Calls and tasks take turns, so that a busy actor does not keep tasks of its rank from running.
  if (!below_.actors.has_work() || !below_.turns.begin_call(below_.actors.waiting(), has_tasks())) return false;
  below_.actors.run_call();
  return true;
}

MANTA_DECL bool rank_loop::run_task() {
  // Every eighth turn is that of the oldest task, else newer ones could keep it waiting for ever.
  if (below_.turns.begin_task()) return run_oldest();
  // The newest of the rank's own tasks runs first: in a nested computation it is the deepest, so
  // few tasks wait at a time.
  if (below_.local.empty()) return below_.executor.run_received();
  below_.home.run(below_.local.pop_back());
  return true;
}

MANTA_DECL bool rank_loop::run_oldest() {
  below_.turns.begin_oldest();
  if (below_.executor.run_received()) return true;
  if (below_.local.empty()) return false;
  below_.home.run(below_.local.pop_front());
  return true;
}

MANTA_DECL bool rank_loop::run_kept_turn() {
  if (!below_.turns.is_of_oldest()) return run_call();
  return !below_.turns.has_made_way() && run_oldest();
}

MANTA_DECL void rank_loop::end_silence() {
  silence_.end();
  if (below_.time_account.rests()) below_.time_account.end_rest(base::ticks());
}

MANTA_DECL rank_state rank_loop::idle_state() {
  if (below_.executor.waits_for_inputs()) return rank_state::fetch;
  const running_task* last = below_.started.first();
  for (int i = 0; last != nullptr && i < 8; ++i, last = last->next) {  // there may be very many
    if (last->call != nullptr && last->call->team != nullptr) return rank_state::gang;
  }
  return below_.actors.empty() ? rank_state::idle : rank_state::actor;
}

MANTA_DECL void rank_loop::idle() {
  if (silence_.turns() == turns_of_own_work) below_.time_account.rest(idle_state(), base::ticks());
  const bool is_alone = own_.net.size() == 1 && below_.waiters.any_with_descriptor();  // no message can end the wait
  const unsigned spins = is_alone || own_.net.oversubscribed() ? 20 : 1000;
  if (!silence_.count_turn(spins)) return;
  own_.net.pump(true);
  report_blocked(below_.executor.waiting(), false);
  if (below_.scheduler != nullptr) {
    if (below_.scheduler->waiting() != 0) below_.placement.place();
    below_.placement.ask_for_work();
    others_.look_for_deadlock(others_.rank);
    if (somebody_can_go_on()) return;
  }
  if (!silence_.is_longer_than(spins)) return;
  // An idle rank copies values to the node's shared memory, before a neighbour asks for them.
  if (own_.ledger.share_offered()) return;
  below_.time_account.rest(idle_state(), base::ticks());
  const std::int64_t now = base::now_ns();
  const bool under_way = own_.net.bulk_outstanding() != 0 || own_.net.queued_bytes() != 0;
  const silence::step by_time = silence_.next_step(spins, now, under_way);
  const silence::step what = is_alone ? silence::step::sleep : by_time;
  if (what == silence::step::spin) return;
  if (what == silence::step::yield) {
    sched_yield();
    return silence_.note_yield(now, base::now_ns(), own_.net.oversubscribed());
  }
  own_.ledger.pay_back();
  below_.gang_guard.watch();
  below_.lock.stay();
  const auto longest = [&] { return below_.waiters.sleep_until_deadline(below_.attempts.has_timers(), now); };
  below_.waiters.sleep(is_alone ? longest() : silence_.sleep_ns(now, under_way, own_.net.is_woken_by_all(), longest));
}

MANTA_DECL void rank_loop::report_blocked(std::uint32_t blocked, bool own_work, bool in_call) {
  const blocked_message now{blocked, own_work, in_call, own_.ledger.memory().is_short()};
  if (now == reported_) return;
  reported_ = now;
  if (below_.scheduler != nullptr) return below_.placement.on_blocked(own_.rank, now);
  own_.post.send(0, message::blocked, now);
  own_.net.pump(true);
}

MANTA_DECL void rank_loop::step() {
  below_.phase.set_resting(false);
  progress();
  if (somebody_can_go_on()) {
    wait_record once;  // over as soon as one other stack has had its turn
    once.remaining = 1;
    once.deadline = base::now_ns();
    wait(once);
  } else if (below_.pace.looked_in_vain()) {
    report_started();
  }
  own_.net.pump(true);
}

MANTA_DECL bool rank_loop::stop_requested() {
  static const auto look_every = static_cast<std::uint64_t>(20'000 / base::nanoseconds_per_tick());
  const std::uint64_t now = base::ticks();
  if (!below_.running->stop && below_.pace.is_time_to_look(now, look_every)) {
    running_task& task = below_.running.get();
    if (task.first_look == 0) task.first_look = now;
    progress();
    if (now - task.first_look > 10 * look_every) others_.serve_others(others_.rank);
    own_.net.pump(true);
    below_.running.resume(task);
  }
  return below_.phase.is_stopping() || below_.running->stop;
}

MANTA_DECL void rank_loop::let_others_go_first() {
  if (below_.pace.looked_long_ago(ticks_between_looks())) look_around(true);
  below_.pace.put_others_off(ticks_between_looks());
  context* const next = below_.turns.next_stack_first(below_.actors.has_work());
  if (next == nullptr && (!below_.actors.has_work() || !stacks_->has_spare())) return;
  running_task& task = below_.running.get();
  below_.turns.make_way(&stacks_->current(), below_.actors.waiting());
  pause(task, base::ticks());
  leave_stack(next);
  go_on(task);
}

MANTA_DECL void rank_loop::run_inline(node& n) {
  below_.local.remove(n);
  running_task& before = below_.running.get();
  {
    inline_frame frame(*stacks_);
    below_.home.run(n);
  }
  below_.running.resume(before);
  if (below_.pace.is_others_turn()) [[unlikely]]
    let_others_go_first();
}

MANTA_DECL void rank_loop::report_long_task() {
  if (below_.running->actor != nullptr) {
    report_blocked(reported_.tasks, reported_.own_work != 0, true);
  } else if (reported_.tasks > 0 && reported_.own_work == 0) {
    const std::uint32_t started = below_.executor.started();
    report_blocked(std::min(reported_.tasks, started > 0 ? started - 1 : 0), false);
  }
}

}  // namespace manta::exec
