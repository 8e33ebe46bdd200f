// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a home does about the tasks and values that it had on a rank that has died:
// values are made again (value/recovery.hpp), tasks are submitted again, calls fail
// with their actor. A task that has cost a rank counts as tried, and runs elsewhere.
//
// No function waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/tasks_elsewhere.hpp"
#include "manta/exec/value/attempts.hpp"
#include "manta/exec/value/recovery.hpp"
#include "manta/exec/work/placement.hpp"

namespace manta::exec {

class lost_tasks {
 public:
  /// The parts that it uses.
  struct parts {
    membership& members;
    tasks_elsewhere& elsewhere;
    task_records& records;
    exec::completion& completion;
    exec::fetches& fetches;
    exec::attempts& attempts;
    exec::recovery& recovery;
    exec::placement& placement;
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*start)(void* rank, node& n);         ///< A task with a record starts as soon as it can.
    void (*task_ready)(void* rank, node& n);    ///< A task without inputs may start.
    bool (*repeats_call)(void* rank, node& n);  ///< A call was lost with its actor. True if it is made again.
  };

  lost_tasks(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  /// Looks after the nodes that a death concerns: values first, for a task may need one.
  void rank_died(rank_id dead);
  /// Rank 0 says that it had placed this task on a rank that has died.
  void on_task_lost(const where_message& m);
  /// A task of this home was on a rank that has died, or with a member of its gang there: submits it again, or fails it
  /// if it has been tried too often.
  void submit_again(node& n, rank_id dead);
  /// For a task that another one submits which runs for the second time, so under the same id as before: null if it may
  /// run, else the failure. The ranks that it has cost before count.
  store::failure_ptr tried_too_often(const node& n, std::uint64_t id, graph::request_ptr& request) const;

 private:
  void forget_links_to(node& n, rank_id dead);           ///< Removes the links that name the dead rank.
  bool is_concerned(const node& n, rank_id dead) const;  ///< Does the death concern this node?
  /// Handles a task or call that was on the dead rank, or perhaps was: one that rank 0 has sent on.
  void task_lost(node& n, rank_id dead);
  /// The request of a task that was sent away; makes it, and a record for it, if there is none.
  graph::request& with_request(node& n);

  const rank_context own_;
  const parts below_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/lost_tasks.ipp"
#endif
