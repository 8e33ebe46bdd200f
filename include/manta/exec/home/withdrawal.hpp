// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks and calls that are to end before their time. Only the home of a task
// decides: it fails the node at once, and what the task's rank sends afterwards is
// thrown away. Then it follows the task: the node or the task's record says to which
// rank it was sent, and rank 0 keeps a table of the tasks that it placed for others.
// A message never overtakes the task on its way; a task that is on its way back to
// rank 0 is met there. The rank that has the task takes it out of whatever it waits
// in, or raises the flag that stop_requested() reads.
//
// No function waits.
#pragma once

#include <cstdint>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/work_list.hpp"
#include "manta/exec/work/actor_host.hpp"
#include "manta/exec/work/gangs.hpp"
#include "manta/exec/work/placement.hpp"

namespace manta::exec {

class withdrawal {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    current_task& running;
    started_list& started;
    exec::waiters& waiters;
    graph::node_list& local;  ///< tasks made here that may start
    late_tasks& late;
    const run_phase& phase;
    const exec::departure& departure;
    tasks_elsewhere& elsewhere;
    task_records& records;
    exec::completion& completion;
    exec::fetches& fetches;
    exec::executor& executor;
    actor_host& actors;
    exec::gangs& gangs;
    exec::placement& placement;
  };
  withdrawal(const rank_context& own, parts of_it) : own_(own), below_(of_it) {}

  // --- at the home

  /// Ends a pending task or call of this home, wherever it is; with cancel_message::expired only if it has not started.
  void withdraw(node& n, const store::failure_ptr& why, std::uint16_t flags);
  /// Withdraws a task for another rank, with what it has submitted where `children`. False if it had ended, or is none.
  bool cancel(node_index index, bool children, rank_id asker, std::string_view who);
  /// Throws away the result of a task or call that was cancelled after it had been sent away.
  void discard(node& n, const result_message& m, const std::byte* data, std::size_t bytes);
  /// A cancelled task or call has ended here, or was not begun: throws its result away.
  void discard_here(node& n, invocation& call);
  /// The record of a cancelled task that is elsewhere or runs; null: it has none.
  const task* record_of(const node& n) const { return cancelled_.find(n.index); }

  /// Whether a task or an actor that is submitted now is refused: its parent was cancelled with its children, the run
  /// has to end, or the driver has thrown, so that what has not started is dropped. After that, what destructors submit
  /// still runs: an error there would end the program.
  bool refuses_children() const;
  /// Fails a child that is refused. Takes over the references of the inputs.
  node& refuse_child(node& n, std::uint64_t id, const task_arguments& given, const store::failure_ptr& why);
  store::failure_ptr stopped_child(const node& n) const;  ///< Why such a task fails.
  store::failure_ptr why_not_begun() const;  ///< Why a task fails that had not started when the run began to stop.

  // --- where the task is

  /// False if what it is about is not here, or not yet. At rank 0, sends it on to where the task was placed.
  bool on_cancel(const cancel_message& m);
  /// Rank 0: a task came back. True if it was cancelled on the way; then that is its end.
  bool is_withdrawn(task& t);

 private:
  bool stop_here(const cancel_message& m);    ///< False if the task is not on this rank.
  void end_unstarted(task* t, bool expired);  ///< Ends a task that was taken out of where it waited.
  /// Cancels what a task has submitted and has not ended: those are nodes of this rank, and the id of each tells whose
  /// child it is. Children that run here have their turn in the same loop, not on top of each other.
  void stop_children(running_task& parent);
  task* take_record_of(const node& n) {  ///< As record_of, and it is the caller's.
    task* const kept = cancelled_.find(n.index);
    if (kept != nullptr) cancelled_.erase(n.index);
    return kept;
  }

  const rank_context own_;
  const parts below_;
  base::pointer_table<task> cancelled_;  // by node: the records of cancelled tasks that are elsewhere or run
  work_list<running_task*> parents_;     // whose children are to stop
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/withdrawal.ipp"
#endif
