// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What values were made from, so that they can be made again when the rank
// where they lie has died. As long as a future lives its home keeps the task
// whose value
//
//   lies on another rank   the task runs once more if that rank dies
//   holds handles          of what the task has submitted, spawned or put, which the task's rank owns. The handles that
//                          are read here from one value are a family, and the task is their parent. If their owner dies
//                          and nobody has a value of one that is needed, the parent runs once more. The handles that it
//                          gives away this time are the heirs of the old ones, by their order.
//
// Families nest. The handles inside a member's value form a family below the member's: their heirs are in the value of
// the member's heir.
//
// An example (tests/exec/hooks_test.cpp, "a handle in a lost value"). Rank 0 submits `give`, which runs on rank 1,
// submits `make` there and returns {h}, a value with the handle of make's result n:
//
//            1. all live                2. rank 1 has died             3. the heir has its value
//
//   rank 0   gift = {h}                 gift = {h}    again            gift = {h}    again = {h'}
//                    |                          |       .                      |              |
//   rank 1           n                        (gone)    .                    (gone)           |
//   rank 2                                              give, make             n' <-----------+
//
// 1. Rank 0 reads the gift and founds the family {h}. Its parent is the task `give`, which rank 0 keeps.
// 2. A task of rank 0 needs h. No rank has a value of n, so recovery::await_heir() has the parent run once more. The
//    new node `again` is linked to the family. `give` runs on rank 2, and submits `make` once more.
// 3. `again` has ended: recovery::await_return() brings its value to rank 0, and find_heirs() reads h' in a copy of it,
//    at the place that h had in the gift. When n' has ended, recovery::inherit() gives h the value of h'.
//
// This part keeps the books: it owns the tasks and the families, sends nothing,
// runs nothing, and never waits. What is done with them stands in recovery.ipp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/task.hpp"

namespace manta::exec {

class lineage {
 public:
  /// Handles that have come here inside one value, and that stand for what belongs to other ranks.
  struct family {
    std::uint32_t slot = 0;             ///< its number for at()
    type_id type = graph::no_index;     ///< type of the value
    graph::task* parent = nullptr;      ///< owned; null if it was given up, runs once more, or `above` stands
    family* above = nullptr;            ///< if the value is that of a member of this family,
    std::uint32_t position = 0;         ///< the member's place in it
    std::size_t living = 0;             ///< number of members, and of families below
    bool comes_back = false;            ///< the value is being made once more
    bool has_ended = false;             ///< that value is here, or there will be none
    graph::node* again = nullptr;       ///< the value made once more, held
    base::list<std::uint32_t> heirs;    ///< nodes of the handles in `again`, in their order
    base::list<std::uint32_t> waiting;  ///< nodes of members that wait for their heirs
    base::list<std::uint32_t> below;    ///< families below that wait for the heirs
  };

  lineage() = default;
  lineage(const lineage&) = delete;
  lineage& operator=(const lineage&) = delete;
  ~lineage();  ///< Frees the families; the tasks belong to their graph.

  // --- tasks

  bool has_tasks() const { return tasks_.size() != 0; }
  /// The task that made the value of this node; null if it is not kept.
  graph::task* task_of(const graph::node& n) const { return tasks_.find(n.index); }
  /// Keeps the task. It is never given up for want of room.
  void keep(const graph::node& n, graph::task* t) { tasks_.set(n.index, t); }
  /// Keeps the task until take_excess() gives it up. `input_bytes` is what its inputs take. A task that is kept again,
  /// since its value was made again, counts once.
  void keep(const graph::node& n, graph::task* t, std::uint64_t input_bytes);
  /// The task is kept no more, and is the caller's; null if it was not kept.
  graph::task* take(const graph::node& n);
  /// Gives up the oldest task, which is then the caller's, if the tasks take more than `most_bytes` or are too many.
  /// Null if there is room.
  graph::task* take_excess(std::uint64_t most_bytes);
  /// Whether any task was ever given up for want of room.
  bool has_given_up() const { return has_given_up_; }

  // --- families

  bool has_members() const { return members_.size() != 0; }
  family& at(std::uint32_t number) { return *families_[number]; }
  /// The family of which this node is a member; null if it is of none.
  family* family_of(const graph::node& n) const;
  /// The place of a member's handle in the value of its family.
  std::uint32_t position_of(const graph::node& member) const {
    return static_cast<std::uint32_t>(*members_.find(member.index));
  }
  /// A new family, of the handles in the value of `outer`. Its parent is the task that made that value, which is then
  /// kept for the family alone. Null if neither the task is known nor a family of `outer`.
  family* found(const graph::node& outer);
  /// The node becomes a member of the family: its handle stands at `position` in the value.
  void join(family& f, const graph::node& member, std::uint32_t position);
  /// The node is a member no more. `living` is left as it is.
  void leave(const graph::node& member) { members_.erase(member.index); }
  /// The parent is kept no more, and is the caller's; null if there was none.
  graph::task* take_parent(family& f);
  /// Deletes a family without members.
  void end(family& f);

 private:
  struct aged {
    std::uint64_t id;
    node_index index;
  };

  /// The key of a task's id in a table.
  static std::uint64_t key(std::uint64_t id) { return id == base::index_table::no_key ? 0 : id; }
  /// The task with this id takes no room any more.
  void uncount(std::uint64_t id);

  /// The family whose parent has this id; null if there is none.
  family* family_of_parent(std::uint64_t id) const;

  base::pointer_table<graph::task> tasks_;  // node of a value -> the task that made it
  base::ring<aged> ages_;                   // the oldest first; some are kept no more
  base::index_table counted_;               // id of a task that may be given up -> its bytes and those of its inputs
  std::uint64_t bytes_ = 0;                 // sum of those
  bool has_given_up_ = false;
  base::list<family*> families_;  // by slot; null if the slot is free
  base::list<std::uint32_t> free_slots_;
  mutable base::index_table members_;  // node of a member -> its family's slot, and its place in the value
  mutable base::index_table parents_;  // id of a parent -> its family's slot
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/lineage.ipp"
#endif
