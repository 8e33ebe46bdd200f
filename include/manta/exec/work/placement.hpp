// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0 decides where tasks run. It asks the scheduler, sends tasks to the ranks
// that it names, and remembers where the tasks are that other ranks gave it to
// place. It asks busy ranks for tasks when others idle, and grants reservations.
//
// No function waits. Only rank 0 calls them.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/rank_set.hpp"
#include "manta/exec/state/task_places.hpp"
#include "manta/exec/value/attempts.hpp"
#include "manta/exec/work/executor.hpp"
#include "manta/exec/work/tasks_ahead.hpp"

namespace manta::exec {

class placement {
 public:
  /// The parts that it uses.
  struct parts {
    graph::offers& world;
    graph::scheduler* const& scheduler;
    task_records& records;
    exec::completion& completion;
    exec::supply& supply;
    exec::attempts& attempts;
    exec::executor& executor;
    tasks_ahead& ahead;
    tasks_elsewhere& elsewhere;
    late_tasks& late;
    const exec::departure& departure;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    /// A task came back to rank 0. True if it was cancelled on the way; then it has ended.
    bool (*is_withdrawn)(void* rank, task& t);
  };

  placement(const rank_context& own, parts of_it, hooks others)
      : own_(own), below_(of_it), others_(others), short_(own.size), asked_(own.size) {}

  // --- tasks come

  /// A rank gives a task to be placed, or gives back one that was sent there.
  void on_submit(rank_id from, const std::byte* data, bool returned);
  /// A task that may start, of rank 0 or given by another rank, is to be placed. It may be refused at once.
  void add(node& n);
  /// A task will not be placed: it fails at its home.
  void refuse(node& n, const store::failure_ptr& why);
  /// A task takes part in the scheduler's queues no more: it is to end.
  void remove(node& n) { below_.late.has(n) ? below_.late.remove(n) : below_.scheduler->remove(n); }
  task_places& places() { return places_; }  ///< Where the tasks of other ranks are.

  // --- decisions

  void place();  ///< Sends the tasks for which there is room, and tells who has what was reserved.
  void place_and_ask() {
    place();
    ask_for_work();
  }
  /// If executors idle and nothing waits to be placed: asks those that are busy for what they have.
  void ask_for_work();
  void note_answer(rank_id from) {  ///< A rank has given what it was asked for.
    asked_.erase(from);
    asked_at_ = 0;
  }

  // --- what ranks say

  void on_ended(rank_id from, const ended_message& m, const graph::request* request);  ///< A task has ended.
  void on_blocked(rank_id from, const blocked_message& m);  ///< A rank says how many of its tasks wait.
  /// A home asks for a task that it gave to rank 0. Sends `task_lost` if it was on a rank that has died.
  void on_where_is(rank_id from, const where_message& m);
  /// Was this task, which rank 0 has placed, on a rank that has died? Then it is forgotten.
  bool take_lost(std::uint64_t key) { return lost_with(key) != no_index; }
  /// What the scheduler had sent to a dead rank is gone. Returns the gang of which the rank was a member; 0: none.
  std::uint64_t rank_died(rank_id dead);

  // --- reservations

  /// Reserves bundles of resources for a rank, which hears of it when they are there. Returns the number.
  std::uint64_t reserve(rank_id asker, node_index index, graph::strategy how, graph::bundles wanted);
  void release(std::uint64_t reservation);  ///< Gives up a reservation. Tasks that wait for it fail.
  void release_pending();                   ///< Gives up the reservations that are not met.
  void end_run();                           ///< Forgets all reservations and places.

 private:
  void dispatch(node& n, rank_id to, std::uint32_t charge);  ///< Sends a task to its executor.
  void dispatch_gang(node& n, std::uint32_t charge);         ///< Sends a task to all members of its gang.
  /// Whether the task may run on rank 0 after all: a rank was killed under it, and no other rank can run it any more.
  bool is_forgiven(const node& n);
  /// Why what the ranks have cannot be enough for this task any more.
  store::failure_ptr never_possible(const node& n) const;
  rank_id lost_with(std::uint64_t key) {
    return places_.take_lost(key, [this](rank_id rank) { return own_.members.is_dead(rank); });
  }

  const rank_context own_;
  const parts below_;
  const hooks others_;
  task_places places_;
  rank_set short_;  // ranks that are short of memory. As long as there is one, tasks that take what is there go before
                    // the others
  rank_set asked_;  // ranks that have been asked for work
  std::uint64_t asked_at_ = 0;  // change_log::loads() when they were; 0: ask again
  std::uint64_t reservations_made_ = 0;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/placement.ipp"
#endif
