// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0: tasks sent ahead of their inputs. Where every input that a task of rank 0
// still misses is being made on one executor, the task is sent there at once and
// finds them on the spot: a chain runs at the pace of its executor instead of one
// round trip a link.
//
// The home keeps the task's record, and so the inputs, until the task has ended. What is made on the executor
// completes the inputs there (executor.hpp), and its result tells the home how many that was. If some came too late
// for that, or the input was made somewhere else after all, or has failed, the home sends it after them (`made`),
// behind the tasks in the same channel. Whatever else waits for it there asks the home as everywhere, for a task that
// was sent ahead may be given back.
//
// No function waits. On other ranks than 0 none is called but send, which does
// nothing there.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/tasks_elsewhere.hpp"
#include "manta/exec/state/waiting_ahead.hpp"
#include "manta/exec/value/supply.hpp"
#include "manta/exec/value/task_records.hpp"
#include "manta/graph/scheduler.hpp"

namespace manta::exec {

class tasks_ahead {
 public:
  /// The parts that it uses.
  struct parts {
    task_records& records;
    tasks_elsewhere& elsewhere;
    exec::supply& supply;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*start)(void* rank, node& n);           ///< A task that came back starts as soon as it can.
    void (*fail_dependent)(void* rank, node& n);  ///< A task fails with one of its inputs.
    void (*discard)(void* rank, node& n);         ///< A task that came back was cancelled.
  };

  tasks_ahead(const rank_context& own, parts of_it, hooks others)
      : own_(own), below_(of_it), others_(others), waiting_(own.size) {}

  /// Sends a task ahead of inputs that it may be linked to, now or when there is room, if that is possible.
  void send(node& n);
  /// A task has been sent to a rank: those that wait for its result may follow.
  void follow(node& n, rank_id to);
  void send_waiting();  ///< Sends the tasks for which there is room again.
  bool has_waiting() const { return !waiting_.empty(); }
  /// The result of a task has come from `from`, where it has reached `reached` tasks that were sent ahead.
  void note_reached(node& n, rank_id from, std::uint32_t reached, std::uint64_t bytes);
  /// An input has ended, and a task that was sent ahead of it has not been reached by it there, as far as is known.
  void send_after(const link& l, node& input);
  /// A task comes back: the executor is busy for longer than was thought, and its inputs may be made elsewhere now.
  void on_come_back(rank_id from, const task_message& m);

 private:
  /// The executor to which a task that waits for inputs may be sent; no_index: none.
  rank_id where_inputs_are_made(const task& t) const;
  bool send_to(node& n, rank_id to);  ///< False if there is no room there.

  const rank_context own_;
  const parts below_;
  const hooks others_;
  waiting_ahead waiting_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/tasks_ahead.ipp"
#endif
