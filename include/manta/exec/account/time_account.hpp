// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What this rank does with its time. The rank is in one state at each moment, and
// what has passed since the last change is added when the state changes, so the
// times of all states are the length of the run.
//
// A look at the clock takes 8 ns, a tenth of the smallest tasks. Tasks of less than
// a microsecond are therefore counted, and one of about 256 is measured: what one of
// them takes is then known, and the rest of the time between is manta's own work.
// As soon as tasks are longer, all are measured.
#pragma once

#include <cstdint>
#include <memory>

#include "manta/base/config.hpp"
#include "manta/exec/account/function_times.hpp"
#include "manta/exec/account/task_trace.hpp"
#include "manta/exec/account/time_bins.hpp"
#include "manta/exec/rank/invocation.hpp"

namespace manta::exec {

class time_account {
 public:
  /// What is measured is told to `trace`, if that is on.
  explicit time_account(task_trace& trace) : trace_(trace) {}

  /// A run of a program with this number of functions begins. Rank 0 begins in its driver.
  MANTA_DECL void begin_run(std::uint64_t now, bool is_rank_0, std::size_t functions);

  // --- tasks

  /// Is the next task to be measured, by begin_task and end_task? Else count_task.
  bool measures() const { return measures_; }
  /// A task begins, now or, where it follows directly, when the last one ended. What had the thread goes on later.
  MANTA_DECL void begin_task(running_task& task, std::uint64_t now);
  MANTA_DECL void end_task(running_task& task, std::uint64_t now);  ///< A measured task has ended, or has thrown.
  /// A task has ended that was not measured; the one before ended at `previous`.
  void count_task(const running_task& task, std::uint64_t previous, std::uint64_t now) {
    if (task.function == counted_ && --left_ != 0) [[likely]]
      return;
    end_batch(task, previous, now);
  }

  // --- what has the thread between tasks

  /// The task that has the thread, or the driver, waits, or lets others go first.
  MANTA_DECL void pause(running_task& task, bool is_driver, std::uint64_t now);
  /// It goes on after pause.
  MANTA_DECL void resume(running_task& task, bool is_driver, std::uint64_t now);
  /// It goes on after a measured task that ran on its stack: that one's end was the last look at the clock.
  void resume_at_once(running_task& task, bool is_driver) { set(&task, is_driver); }
  /// What ran has ended: manta's own work follows.
  void leave() {
    state_ = rank_state::own;
    current_ = nullptr;
  }
  /// The rank has nothing to do, for this reason.
  MANTA_DECL void rest(rank_state why, std::uint64_t now);
  bool rests() const { return rests_; }
  /// Something has come.
  MANTA_DECL void end_rest(std::uint64_t now);

  // --- what is known

  /// The own time of a task that has ended: measured, or that of others like it.
  std::uint64_t own_ticks_of(const running_task& task) const {
    return task.is_measured ? task.own_ticks : functions_.mean_of(task.function);
  }
  /// Brings everything up to date. `in_user_code`: the rank's own thread is there, in a task or in the driver.
  MANTA_DECL void settle(std::uint64_t now, bool in_user_code, bool is_driver);
  const time_bins& bins() const { return *bins_; }
  const function_times& functions() const { return functions_; }

 private:
  static constexpr unsigned first_batch = 256;
  static constexpr unsigned many_short =
      256;  ///< after this number of short tasks in a row, not all are measured any more

  /// After what has run, which is not over: the driver or a task.
  void set(running_task* task, bool is_driver) {
    state_ = !is_driver ? rank_state::task : is_rank_0_ ? rank_state::driver : rank_state::own;
    current_ = is_driver || !task->is_measured ? nullptr : task;
  }
  bool has_batch() const { return left_ != batch_; }
  /// The task `next` has ended, with which the batch is full, or which is of another function than the batch.
  MANTA_DECL void end_batch(const running_task& next, std::uint64_t previous, std::uint64_t now);
  void trace_time(std::uint64_t now);  ///< Tells the trace how the time until now was spent.
  void trace_batch(std::uint64_t count, std::uint64_t in_tasks, std::uint64_t end);  ///< Tells the trace of a batch.
  void close_batch(std::uint64_t now);  ///< Accounts for the tasks that were only counted, and the time until now.
  void close(std::uint64_t now);        ///< Accounts for all time until now.
  void spend(std::uint64_t now);        ///< The time until now was spent in the present state.
  bool is_short(std::uint64_t ticks) const { return ticks < short_; }
  unsigned next_batch();  ///< The number of tasks of the next batch, by chance.

  // What count_task needs stands first.
  std::uint32_t counted_ = graph::no_index;  // the function of the tasks that are only counted
  unsigned left_ = first_batch;              // the number of them until one is measured again
  unsigned batch_ = first_batch;             // their number
  bool measures_ = true;
  bool is_sample_ = false;  // the next measured task is one of many short ones
  bool rests_ = false;
  bool is_rank_0_ = false;
  rank_state state_ = rank_state::own;
  running_task* current_ = nullptr;  // the measured task that the time since mark_ belongs to; null: none
  std::uint64_t mark_ = 0;           // all time until then is accounted for
  std::uint64_t short_ = 0;          // ticks of a microsecond
  unsigned short_in_a_row_ = 0;
  std::uint64_t ended_ = 0;  // tasks that have ended, as far as end_batch and end_task have seen
  std::uint64_t random_ = 1;
  std::unique_ptr<time_bins> bins_;
  function_times functions_;
  task_trace& trace_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/time_account.ipp"
#endif
