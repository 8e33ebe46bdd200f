// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The executor's books of received tasks that have inputs: tasks whose inputs
// are on their way, tasks that were sent ahead of inputs which are made here,
// and tasks whose inputs are all here.
//
// This part keeps lists: it fetches nothing, sends nothing and never waits. The
// records are the engine's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/task.hpp"

namespace manta::exec {

class staging {
 public:
  /// Enters a task some of whose inputs are not here. A call of an actor is not entered: it stands in a mailbox.
  void add_waiting(graph::task* t) {
    if (t->ahead) {
      ahead_.push_back(t);
    } else if (is_no_call(*t)) {
      by_id_.set(t->id, t);
    }
    if (t->by_scheduler) ++waiting_;
  }
  /// Takes a task out that add_waiting has entered.
  void remove_waiting(graph::task* t) {
    if (t->ahead) {
      ahead_.remove(t);
    } else if (is_no_call(*t)) {
      by_id_.erase(t->id);
    }
    if (t->by_scheduler) --waiting_;
  }
  /// The waiting task with this id, or else the first of those sent ahead for which is(task) holds. Null if
  /// there is none.
  template <class Is>
  graph::task* find_waiting(std::uint64_t id, Is&& is) const {
    graph::task* const t = by_id_.find(id);
    return t != nullptr ? t : ahead_.find(is);
  }
  /// The number of waiting tasks that rank 0 has sent.
  std::uint32_t waiting() const { return waiting_; }
  /// Does a task wait for inputs that exist, and lie elsewhere?
  bool waits_for_inputs() const { return by_id_.size() != 0; }
  /// The number of such tasks.
  std::size_t waiting_for_inputs() const { return by_id_.size(); }
  /// The number of waiting tasks that were sent ahead of their inputs.
  std::uint32_t ahead() const { return static_cast<std::uint32_t>(ahead_.size()); }
  bool has_ahead() const { return !ahead_.empty(); }
  graph::task* first_ahead() const { return ahead_.front(); }

  /// Enters a task whose inputs are all here.
  void add_ready(graph::task* t) { ready_.push_back(t); }
  bool has_ready() const { return !ready_.empty(); }
  std::size_t ready() const { return ready_.size(); }
  /// Takes out the ready task that has waited longest.
  graph::task* pop_ready() { return ready_.pop_front(); }
  /// The first ready task for which is(task) holds. Null if there is none.
  template <class Is>
  graph::task* find_ready(Is&& is) const {
    return ready_.find(is);
  }
  /// Takes out the first ready task for which is(task) holds. Null if there is none.
  template <class Is>
  graph::task* take_ready(Is&& is) {
    return ready_.take(is);
  }

  /// Tasks that were sent ahead of what `t` makes can find it.
  void note_maker(graph::task* t) {
    if (t->home_rank == 0 && t->request == nullptr) makers_[t->home_index % most_makers] = t;
  }
  /// The task of rank 0 that makes the value of this node; null if it is not known.
  graph::task* maker_of(node_index home_index) {
    graph::task* const t = makers_[home_index % most_makers];
    return t != nullptr && t->home_index == home_index ? t : nullptr;
  }
  /// The record is freed.
  void forget_maker(const graph::task* t) {
    graph::task*& known = makers_[t->home_index % most_makers];
    if (known == t) known = nullptr;
  }

 private:
  static constexpr std::uint32_t most_makers = 256;

  static bool is_no_call(const graph::task& t) { return t.slot == graph::no_index || t.by_scheduler; }

  base::pointer_table<graph::task> by_id_;  // tasks that wait for their inputs, but for those in ahead_
  graph::task_list ahead_;                  // tasks that were sent ahead and wait for what is made here
  graph::task_list ready_;                  // tasks with inputs, all of which are here
  std::uint32_t waiting_ = 0;               // tasks of rank 0 in by_id_ and ahead_
  graph::task* makers_[most_makers] =
      {};  // tasks of rank 0 that are here, by the index of their node; the last one counts
};

}  // namespace manta::exec
