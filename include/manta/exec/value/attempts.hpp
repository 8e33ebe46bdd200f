// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deadlines and further attempts, which are the matter of a task's home: it has
// the clock, and judges failures.
//
// A retry's predicate is the user's code and runs at the top level, outside the
// lock; else no function waits, and none sends.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/run_phase.hpp"
#include "manta/exec/state/task_clock.hpp"
#include "manta/exec/value/completion.hpp"

namespace manta::exec {

class attempts {
 public:
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*task_ready)(void* rank, node& n);  ///< A task may start, once more or after its pause.
    /// A task ends before its time, wherever it is.
    void (*withdraw)(void* rank, node& n, const store::failure_ptr& why, std::uint16_t flags);
  };

  attempts(const rank_context& own, completion& ends, run_phase& phase, biased_lock& lock, hooks others)
      : own_(own), completion_(ends), phase_(phase), lock_(lock), others_(others) {}

  // --- the clock

  void start_timer(node& n, std::int64_t ns, std::uint32_t attempt);  ///< Sets the clock of a task.
  /// Sets the clock of a call of an actor, which has been sent or waits for the actor.
  void start_timer_of_call(node& n, std::int64_t ns, std::int64_t limit);
  void stop_timer(node& n);                                  ///< Stops the clock of a task.
  bool has_timers() const { return clock_.running() != 0; }  ///< Does any clock run?
  void look_at_clock();  ///< Withdraws tasks that are late, and starts further attempts.
  /// A task of ours with a running clock is about to start. True if it is too late; then it has failed.
  bool overdue(node& n);
  /// Nothing more is started: tasks that wait for their next attempt end.
  void withdraw_resting(const store::failure_ptr& why);

  // --- further attempts

  bool may_retry(const node& n) const;  ///< Has the task attempts left?
  /// At the top level: runs it again if the user's predicate agrees. True if the node needs nothing more.
  bool judge(node& n, const store::failure_ptr& why);
  /// In a handler: as judge(), but where there is a predicate the top level decides.
  void retry_or_fail_later(node& n, const store::failure_ptr& why);
  bool has_to_judge() const { return !to_judge_.empty(); }
  void judge_failures();  ///< At the top level: decides on the failures for which a predicate is asked.

 private:
  struct judgement {
    node_index index;
    store::failure_ptr* why;
  };
  bool is_due_for(const task_clock::timer& t);         ///< Is this timer still that of its node?
  bool retry(node& n, const store::failure_ptr& why);  ///< Runs a task again, now or after its pause, if that helps.

  const rank_context own_;
  completion& completion_;
  run_phase& phase_;
  biased_lock& lock_;
  const hooks others_;
  task_clock clock_;
  base::list<judgement> to_judge_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/attempts.ipp"
#endif
