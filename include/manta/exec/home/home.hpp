// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The tasks of this rank, from submission to their ends. A task waits here for its
// inputs. When they exist it may start: on this rank at once if it executes tasks
// and nothing else was asked for, else rank 0 places it. What a rank has too much of
// it gives to rank 0 when rank 0 asks because others idle.
//
// submit may make a submitter that runs ahead wait, and run runs a function, which
// may wait. All other functions return at once.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/home/actor_calls.hpp"
#include "manta/exec/home/lost_tasks.hpp"

namespace manta::exec {

class home {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    current_task& running;
    const run_phase& phase;
    const exec::departure& departure;
    exec::throttle& throttle;
    graph::node_list& local;
    late_tasks& late;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
    tasks_elsewhere& elsewhere;
    exec::journaling& journaling;
    exec::runner& runner;
    task_records& records;
    exec::completion& completion;
    exec::fetches& fetches;
    exec::attempts& attempts;
    exec::recovery& recovery;
    exec::executor& executor;
    actor_host& actors;
    actor_calls& calls;
    tasks_ahead& ahead;
    exec::placement& placement;
    exec::withdrawal& withdrawal;
    lost_tasks& lost;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    void (*relieve)(void* rank);  ///< A submitter that runs ahead helps, and may wait.
  };

  home(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  /// Results are kept in a journal, or homes keep what tasks that were sent away were made of: such tasks have records
  /// if their arguments have more than `bytes` bytes.
  void keep_records_above(std::size_t bytes) { most_compact_ = bytes; }

  /// Submits a task. The arguments are `bytes` bytes; each input has one reference that the task takes over.
  MANTA_DECL node& submit(function_id function, type_id type, const task_arguments& given, graph::request_ptr request);
  /// The task with a record starts when its inputs have ended, or is sent ahead of them.
  void start(node& n);
  /// All inputs of a task have ended: it may run here, or is sent to be placed, or fails.
  void task_ready(node& n);
  /// A task fails with one of its inputs. One after the other: a chain of a million needs no stack of that depth.
  void fail_dependent(node& n);
  void run(node& n);  ///< Runs a task of this rank here.
  /// A task or call of this rank has ended here.
  void ended(const task_origin& of, invocation& call, bool ok, const store::failure_ptr& why, std::uint64_t ns);
  /// The result of a task or call of this rank has come from where it ran.
  void on_result(rank_id from, const result_message& m, const std::byte* data, std::size_t bytes);
  void on_demand(const demand_message& m);  ///< Rank 0 asks for tasks.
  bool owes_tasks() const { return owed_.tasks > 0; }
  /// Gives rank 0 some of what it asked for, oldest first: the oldest tasks are the largest subtrees. `overdue`: what
  /// runs here takes longer than was thought, and tasks that were sent here can go elsewhere too.
  void give_away(bool overdue);
  /// The tasks that may start here fail(node) instead.
  template <class Fail>
  void drop_unstarted(Fail&& fail) {
    while (!below_.local.empty()) {
      node& n = below_.local.pop_front();
      n.reset(node::queued);
      fail(n);
    }
  }
  /// The number of tasks and calls that have not ended.
  std::size_t unfinished_count() const {
    return below_.elsewhere.unfinished() + below_.local.size() +
           (below_.scheduler == nullptr ? 0 : below_.scheduler->waiting());
  }
  /// That number, and one more for every 128 bytes of arguments beyond 64 MiB.
  std::size_t unfinished() const {
    constexpr std::size_t few_bytes = std::size_t{64} << 20, bytes_a_task = 128;
    const std::size_t bytes = own_.graph.tasks.large_bytes() + below_.calls.argument_bytes();
    return unfinished_count() + (bytes > few_bytes ? (bytes - few_bytes) / bytes_a_task : 0);
  }

 private:
  bool hands_out() const { return below_.scheduler != nullptr && own_.size > 1; }
  /// Is the record of a task kept when the task has been sent away?
  bool keeps(const task& t) const { return own_.members.recovers() || (t.request != nullptr && t.request->kept()); }
  bool submit_record(node& n, task* t);  ///< Submits a task with a record. False if it has ended at once.
  /// Sends a task with few arguments and nothing else to an executor with room. False if there is none.
  bool send_compact(node& n, std::uint64_t id, const std::byte* arguments, std::size_t bytes);
  void send_to_rank_0(node& n);  ///< Sends a task with a record to be placed.
  void finish(node& n, invocation& call, bool ok, const store::failure_ptr& why);  ///< A task has run here.
  /// Completes the node of a task that has not started if the journal has its result.
  bool take_from_journal(node& n);

  const rank_context own_;
  const parts below_;
  const hooks others_;
  demand_message owed_{};  // to rank 0: what it asked for and has not been given
  work_list<task_place> to_fail_;
  std::size_t most_compact_ = graph::compact_bytes + 1;  // a task with fewer bytes and nothing else needs no record
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/home.ipp"
#endif
