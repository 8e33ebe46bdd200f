// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/clock.hpp"
#include "manta/base/hash.hpp"
#include "manta/exec/account/time_account.hpp"

namespace manta::exec {

MANTA_DECL void time_account::begin_run(std::uint64_t now, bool is_rank_0, std::size_t functions) {
  if (bins_ == nullptr) bins_ = std::make_unique<time_bins>();
  bins_->begin(now);
  functions_.begin_run(functions);
  short_ = static_cast<std::uint64_t>(1000 / base::nanoseconds_per_tick());
  is_rank_0_ = is_rank_0;
  counted_ = graph::no_index;
  left_ = batch_ = first_batch;
  measures_ = true;
  is_sample_ = rests_ = false;
  short_in_a_row_ = 0;
  mark_ = now;
  state_ = is_rank_0 ? rank_state::driver : rank_state::own;
  current_ = nullptr;
}

inline unsigned time_account::next_batch() {
  random_ = base::mix(random_ + 1);
  return first_batch / 2 + static_cast<unsigned>(random_ % first_batch);  // else periodic programs would be met
}

/// Is the state a stretch of a trace? Others are gaps in it.
inline bool is_shown(rank_state state) {
  return state == rank_state::fetch || state == rank_state::gang || state == rank_state::driver;
}

// Not inlined: a run without a trace pays for one branch alone.
[[gnu::noinline, gnu::cold]] inline void time_account::trace_time(std::uint64_t now) {
  if (current_ != nullptr) {
    trace_.note_run(*current_, mark_, now);
  } else if (is_shown(state_)) {
    trace_.note_state(static_cast<std::uint32_t>(state_), mark_, now);
  }
}

inline void time_account::spend(std::uint64_t now) {
  if (now <= mark_) return;
  bins_->add(state_, mark_, now, current_ == nullptr ? graph::no_index : current_->function.number());
  if (current_ != nullptr) current_->own_ticks += now - mark_;
  if (trace_.is_on()) [[unlikely]]
    trace_time(now);
  mark_ = now;
}

inline void time_account::trace_batch(std::uint64_t count, std::uint64_t in_tasks, std::uint64_t end) {
  const bool is_busy = is_short((end - mark_) / count);  // else what waits for these tasks has computed itself
  trace_.note_tasks(counted_, static_cast<std::uint32_t>(count), in_tasks, mark_, is_busy ? end : mark_ + in_tasks);
}

inline void time_account::close_batch(std::uint64_t now) {
  const std::uint64_t count = batch_ - left_;
  left_ = batch_;
  if (now <= mark_) now = mark_;
  ended_ += count;
  const std::uint64_t in_tasks = functions_.add_estimated(functions_.of(counted_), count, now - mark_);
  bins_->add(rank_state::task, mark_, mark_ + in_tasks, counted_);
  if (trace_.is_on()) trace_batch(count, in_tasks, now);
  mark_ += in_tasks;
  if (is_short((now - mark_) / count)) {  // else what waits for these tasks has computed itself
    bins_->add(rank_state::own, mark_, now);
    mark_ = now;
    return;
  }
  spend(now);
  measures_ = true;
  is_sample_ = false;
  short_in_a_row_ = 0;
}

inline void time_account::close(std::uint64_t now) { has_batch() ? close_batch(now) : spend(now); }

MANTA_DECL void time_account::end_batch(const running_task& task, std::uint64_t previous, std::uint64_t now) {
  const function_id next = task.function;
  const bool is_full = next == counted_;
  if (is_full) {  // with this task
    close_batch(now);
    batch_ = left_ = next_batch();
    is_sample_ = !measures_;
    measures_ = true;
    return;
  }
  if (has_batch()) close_batch(previous);
  counted_ = next;
  --left_;
  const bool is_known = functions_.mean_of(next) != 0;
  if (is_known && is_short(now - mark_)) return;
  // A task of another kind: it is taken as if it had been measured, and the next ones are.
  function_times::row& row = functions_.of(next);
  left_ = batch_;
  ++ended_;
  if (now > mark_) {
    functions_.add(row, {now - mark_, mark_, 0, {}}, 0, [] { return std::string(); });
    bins_->add(rank_state::task, mark_, now, next);
  }
  if (trace_.is_on()) {
    trace_.note_run(task, std::min(mark_, now), now);
    trace_.note_end(task, now);
  }
  mark_ = std::max(mark_, now);
  measures_ = true;
  is_sample_ = false;
  short_in_a_row_ = 0;
}

MANTA_DECL void time_account::begin_task(running_task& task, std::uint64_t now) {
  close(now);
  task.is_measured = true;
  task.own_ticks = task.waited_ticks = 0;
  task.begin_ticks = now;
  task.ended_before = ended_;
  task.is_sample = is_sample_;
  if (is_sample_) measures_ = is_sample_ = false;
  rests_ = false;
  set(&task, false);
}

MANTA_DECL void time_account::end_task(running_task& task, std::uint64_t now) {
  set(&task, false);
  close(now);
  function_times::row& row = functions_.of(task.function);
  const bool is_leaf = task.ended_before == ended_;
  ++ended_;
  if (trace_.is_on()) [[unlikely]]
    trace_.note_end(task, now);
  state_ = rank_state::own;
  current_ = nullptr;
  if (task.is_sample && !is_leaf && is_short(task.own_ticks)) {  // what ran within it was not measured
    functions_.add_estimated(row, 1, task.own_ticks);
    return;
  }
  functions_.add(row, {task.own_ticks, task.begin_ticks, task.id, {}}, task.waited_ticks,
                 [&] { return task.request == nullptr ? std::string() : std::string(task.request->name); });
  if (!is_short(task.own_ticks)) {
    measures_ = true;
    is_sample_ = false;
    short_in_a_row_ = 0;
  } else if (measures_ && !is_sample_ && ++short_in_a_row_ >= many_short) {
    measures_ = false;
    batch_ = left_ = next_batch();
  }
}

MANTA_DECL void time_account::pause(running_task& task, bool is_driver, std::uint64_t now) {
  set(&task, is_driver);
  close(now);
  task.paused_at = now;
  leave();
}

MANTA_DECL void time_account::resume(running_task& task, bool is_driver, std::uint64_t now) {
  if (rests_) {
    end_rest(now);
  } else {
    close(now);
  }
  if (task.is_measured) task.waited_ticks += now - task.paused_at;
  set(&task, is_driver);
}

MANTA_DECL void time_account::rest(rank_state why, std::uint64_t now) {
  close(now);
  state_ = why;
  current_ = nullptr;
  rests_ = true;
}

MANTA_DECL void time_account::end_rest(std::uint64_t now) {
  close(now);
  rests_ = false;
  leave();
}

MANTA_DECL void time_account::settle(std::uint64_t now, bool in_user_code, bool is_driver) {
  if (in_user_code && state_ == rank_state::own && !is_driver) state_ = rank_state::task;
  close(now);
}

}  // namespace manta::exec
