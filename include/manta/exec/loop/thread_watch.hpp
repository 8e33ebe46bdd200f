// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the helper does when a task hangs: it ends the rank, or says that a task may
// stand in a lock that one of the waiting tasks holds.
//
// Called by the helper, with the lock held. No function waits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "manta/base/clock.hpp"
#include "manta/base/config.hpp"
#include "manta/exec/loop/helper.hpp"
#include "manta/exec/state/current_task.hpp"
#include "manta/exec/state/started_list.hpp"
#include "manta/exec/state/waiters.hpp"
#include "manta/exec/state/watchdog.hpp"

namespace manta::exec {

class thread_watch {
 public:
  thread_watch(rank_id here, const current_task& running, const started_list& started, const waiters& waiting,
               const helper& thread)
      : rank_(here), running_(running), started_(started), waiters_(waiting), helper_(thread) {}

  /// The longest time that a task may go without a call of the library; 0: any.
  void set_limit(std::int64_t ns) { task_.set_limit(ns); }
  /// The watch over tasks, for those that run in processes of their own.
  const watchdog& over_tasks() const { return task_; }
  /// How long may pass between two looks at tasks; below 0: they are not watched.
  std::int64_t pause_ns() const {
    if (end_at_ns_ != 0) return watchdog::most_between_looks_ns / 10;
    return task_.is_on() ? std::min(watchdog::most_between_looks_ns, task_.limit_ns() / 8 + 1) : -1;
  }
  /// Before a rank is ended, act(with) is called.
  void set_last_act(void (*act)(void*), void* with) {
    last_act_ = act;
    with_ = with;
  }
  /// Before that, the run may say what it does: `begin` is called when a task is taken for hung, and the rank is ended
  /// when `are_said`, or after some seconds.
  struct last_words {
    void* with;
    void (*begin)(void* with);
    bool (*are_said)(void* with);
  };
  void set_last_words(const last_words& words) { words_ = words; }
  /// Ends the rank if a task has its thread for too long; with recovery the task is tried elsewhere. `was_here`: the
  /// thread has entered the library since the last look: then it is not ended, also if that has been said.
  void watch_task(bool was_here, std::int64_t now_ns = base::now_ns());
  /// A task that holds a mutex and waits leaves the rank's thread to others. If one of these wants the mutex, nothing
  /// goes on here any more: nobody can undo that, but it is said.
  void watch_lock(bool was_here, std::int64_t now_ns = base::now_ns());

 private:
  static constexpr std::int64_t patience_ns = 2'500'000'000;  // with what the run says before

  void end_hung(bool was_here, std::int64_t now_ns);  ///< Ends the rank when that is due.

  const rank_id rank_;
  const current_task& running_;
  const started_list& started_;
  const waiters& waiters_;
  const helper& helper_;
  void (*last_act_)(void*) = nullptr;
  void* with_ = nullptr;
  last_words words_{};
  std::int64_t end_at_ns_ = 0;  // when the rank is ended at the latest; 0: it is not
  std::int64_t hung_after_ns_ = 0;
  watchdog task_;
  lock_watch lock_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/thread_watch.ipp"
#endif
