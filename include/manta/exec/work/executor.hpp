// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that came to this rank to be run: they stand in the inbox, wait for their
// inputs, run one after the other, and their homes are told how they have ended.
// Among them are tasks that were sent ahead of their inputs: for each input that is
// to be made here there is a node, for which the home is owed no reference. The
// record of the task that makes the input has that node, if it can be found at
// once, else the node is a proxy. What is made here completes it; what was made
// elsewhere after all is sent after the task by its home (`made`).
//
// A function of the user's, which may wait, is run by run_received and run_staged
// alone. All others return at once.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/message_queue.hpp"
#include "manta/exec/state/tasks_elsewhere.hpp"
#include "manta/exec/value/fetches.hpp"
#include "manta/exec/value/supply.hpp"
#include "manta/exec/value/task_records.hpp"
#include "manta/exec/work/runner.hpp"

namespace manta::exec {

/// A task or call that ends on this rank: whose it is, and what its end needs.
struct task_origin {
  rank_id home_rank;
  node_index home_index;
  function_id function = no_index;
  std::uint32_t charge = 0;                 ///< booked time
  bool by_scheduler = false;                ///< rank 0 has sent it
  const graph::request* request = nullptr;  ///< null: none
  std::uint64_t key = 0;                    ///< key of the task in the tables of rank 0
  node* awaited = nullptr;                  ///< tasks that were sent ahead wait for it
  bool at_once = false;                     ///< see task_message::result_at_once
};
/// A call of an actor, or a part of a gang's task, which rank 0 does not count.
inline task_origin origin_of_call(const task& t) {
  return {.home_rank = t.home_rank, .home_index = t.home_index, .function = t.function, .at_once = t.result_at_once};
}
inline task_origin origin_of_call(const task_message& m) {
  return {.home_rank = m.home_rank,
          .home_index = m.home_index,
          .function = m.function,
          .at_once = (m.flags & task_message::result_at_once) != 0};
}

class executor {
 public:
  /// The parts that an executor uses.
  struct parts {
    biased_lock& lock;
    exec::runner& runner;
    exec::staging& staging;
    task_records& records;
    exec::fetches& fetches;
    exec::supply& supply;
    exec::journaling& journaling;
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*run_own)(void* rank, node& n);             ///< Runs a task of this home, whose inputs had to be fetched.
    void (*run_part)(void* rank, task* t);            ///< Runs this rank's part of a gang.
    void (*call_ready)(void* rank, slot_index slot);  ///< The inputs of a call are here.
    /// An actor has been constructed on this rank. Returns its slot. `constructor` is kept for a restart; null: not.
    slot_index (*new_actor)(void* rank, const invocation& call, const task& made_by, task* constructor);
    /// A task or call of this rank has ended on it, or was not begun.
    void (*ended_here)(void* rank, const task_origin& of, invocation& call, bool ok, const store::failure_ptr& why,
                       std::uint64_t ns);
  };

  executor(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  // --- tasks come

  /// In a handler: a task has come. One that was sent ahead is staged at once; the others stand in the inbox.
  void receive(rank_id from, const std::byte* data, std::size_t bytes);
  /// In a handler: an input of tasks that were sent ahead was made on another rank, whose home is `from`.
  void on_made(rank_id from, const result_message& m, const std::byte* data, std::size_t bytes);
  /// Has the inputs brought here that are not; when all are, the task is ready to run, or its actor is told.
  void stage(task* t);
  /// An input of a staged task is here, or has failed.
  void input_arrived(task* t, node& input);
  /// Breaks the links of a task to inputs that it waits for.
  void unstage(task* t);

  // --- tasks run

  /// May the oldest task of the inbox begin? Not while the values on their way here take much memory.
  bool may_begin() const { return !inbox_.empty() && !own_.ledger.memory().expects_much(); }
  /// The number of received tasks that can begin.
  std::size_t queued() const { return inbox_.size() + below_.staging.ready(); }
  /// Does a task wait here for inputs that lie elsewhere?
  bool waits_for_inputs() const { return below_.staging.waits_for_inputs(); }
  bool has_work() const { return may_begin() || below_.staging.has_ready(); }
  bool is_quiet() const { return inbox_.empty(); }
  bool has_unread_inputs() const;  ///< Has a task with inputs come in that has not been read?
  /// Runs the next received task, those with inputs first. False if there is none that may begin.
  bool run_received();

  // --- tasks end

  /// A task or call has ended here: tells its home, and rank 0 if that had sent it.
  void ended(const task_origin& of, invocation& call, bool ok, const store::failure_ptr& why, std::uint64_t ns);
  /// Reports the end of a received task, and frees its record unless that is kept.
  void end_received(task* t, bool kept, invocation& call, bool ok, const store::failure_ptr& why, std::uint64_t ns);
  /// This rank's part of a gang has ended: tells rank 0, which gets the resources of the part back.
  void end_part(const task& t, bool ok, std::uint64_t ns);

  // --- tasks that have not begun

  /// The number of tasks in the inbox.
  std::size_t in_inbox() const { return inbox_.size(); }
  /// Holds is(message) for one of the tasks in the inbox?
  template <class Is>
  bool any_in_inbox(Is&& is) const {
    return inbox_.any(is);
  }
  bool has_unstarted(std::uint64_t id) const;  ///< Does the task with this id wait here?
  /// Takes that task out of where it waits. Null if there is none.
  task* take_unstarted(std::uint64_t id);
  /// Gives rank 0 back what was sent here and has not begun, but for what was placed here for a reason: `wanted` tasks
  /// at most, which are counted down.
  void give_back(std::uint32_t& wanted);
  /// Nothing more is started: what stands in the inbox fails, but for parts of gangs.
  void fail_inbox(const store::failure_ptr& why);
  /// The number of tasks that rank 0 has sent and that have begun here.
  std::uint32_t started() const {
    const std::size_t staged = below_.staging.waiting() + below_.staging.ready();
    const auto unstarted = static_cast<std::uint32_t>(staged + inbox_.size());
    return received_ > unstarted ? received_ - unstarted : 0;
  }
  /// The number of those that wait when nothing runs here: all that were started, and those sent ahead. After a death
  /// inputs may have to be made again, perhaps on this very rank.
  std::uint32_t waiting() const {
    return started() + (own_.members.deaths() != 0 ? below_.staging.waiting() : below_.staging.ahead());
  }

 private:
  void run_message(const message_queue::view& m);  ///< Runs a task that has come, or stages it.
  void run_staged(task* t);  ///< Runs a received task whose inputs are here; or one of ours that had to fetch some.
  void staged(task* t);      ///< All inputs are here.
  void await_input(task* t, node& input);  ///< Fetches an input, or waits until it is made.
  /// The node of what ends here, if tasks that were sent ahead wait for it: that of its task, or the proxy.
  node* expected_here(const task_origin& of);
  /// There is a proxy besides the node `result`: tasks that wait for `result` wait for the proxy.
  void hand_over(node& result, node& proxy);
  void give_back_ahead();  ///< Gives back what was sent ahead, whether its inputs have been made by now or not.

  const rank_context own_;
  const parts below_;
  const hooks others_;
  message_queue inbox_;
  std::uint32_t received_ = 0;  // tasks that rank 0 has sent and that have not ended here
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/executor.ipp"
#endif
