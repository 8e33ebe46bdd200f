// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values that are made again after a death, by the books of lineage.hpp: which
// tasks are kept, when they run once more, and how members of families get the
// values of their heirs.
//
// No function waits.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/fetches.hpp"
#include "manta/exec/value/lineage.hpp"
#include "manta/exec/value/task_records.hpp"

namespace manta::exec {

class recovery {
 public:
  using family = lineage::family;
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*start)(void* rank, node& n);  ///< A task that has run is to run once more, as soon as it can.
  };

  recovery(const rank_context& own, lineage& books, task_records& records, completion& ends, fetches& fetching,
           hooks others)
      : own_(own), lineage_(books), records_(records), completion_(ends), fetches_(fetching), others_(others) {}

  // --- tasks

  /// A task of ours has ended elsewhere: keeps it if it may have to run again, which an actor's does too. The inputs
  /// live as long; when they take too much, the oldest are given up, but for those of actors. False if there
  /// is no need or no way.
  bool keep_lineage(node& n, const result_message& result);
  /// A value that an actor of ours has given to us outlives the rank where it lies: it lies here, or can be had
  /// again from what the actor was made of, by `function`, to whose arguments its number is added. False if that
  /// is not known.
  MANTA_DECL bool keep_item(node& n, const node& actor, function_id function, std::uint64_t number);
  void forget_lineage(node& n);  ///< The value need not be made again.
  /// At the home of an actor's handle: keeps the actor's last state, or forgets the actor where there is none.
  void on_checkpoint(const checkpoint_message& m, const std::byte* data, std::size_t bytes);

  // --- families

  /// Makes the node of a handle inside a value that is being read, and enters it into the family of that value.
  MANTA_DECL node& import_inside(const reference_message& r, type_id type);
  /// The last handle of `n` is gone, which leaves its family. `calls`: the calls of an actor that were made through it.
  void leave_family(const node& n, std::uint64_t calls);
  /// No rank has a copy of the value of `n`, a proxy: has the value made again in which its handle came. False if
  /// nobody knows any more how to make that one.
  bool await_heir(node& n);
  /// Gives `n`, a member that waits, the value of its heir, at once or when the heir has ended.
  void inherit(node& n);
  /// The node `again` of this family has ended: its value is brought here.
  void await_return(std::uint32_t of_family) { await_return(lineage_.at(of_family)); }

  // --- deaths

  /// For a node whose value, or awaited answer, was on the dead rank: has it made again, or fails the node.
  void value_lost(node& n, rank_id dead);

 private:
  void note_lineage(const node& n, task* t);  ///< Keeps the task that made a value, and gives up what is too much.
  /// The value of `n`, which lay on the dead rank, is made again, unless that has cost too many ranks.
  void make_again_after(node& n, task* t, rank_id dead);
  void make_again(node& n, task* t);                 ///< Has the task run once more that made a value of ours.
  void join_family(node& n, store::reading& outer);  ///< The handle is one of those in the value that is being read.
  void end_if_empty(family& f);                      ///< Ends the family with its last member or family below.
  bool can_return(const family& f) const;            ///< Can the value be made again in which the family came?
  /// Has the task, with what it has made, cost more ranks than its retries allow?
  bool has_cost_too_much(const task& t) const;
  void bring_back(family& f);       ///< Has that value made again, if that is not under way.
  void take_from_above(family& f);  ///< Takes the second value from the outer family, whose heirs are known.
  void await_return(family& f);     ///< Brings the second value here, which has ended.
  void all_return(family& f);       ///< Has all members inherit: the second value is here, or there will be none.
  void find_heirs(family& f);       ///< Lists the handles in a copy of the second value, in the order of reading.
  /// A copy of a boxed value, read as that of `to`. Throws what its save() or load() throws.
  void* copy_of(const node& from, node& to, base::list<std::uint32_t>* handles = nullptr);
  /// Null if there is none yet, or the second value has other handles.
  node* heir_at(const family& f, std::uint32_t position, type_id type);
  node* heir_of(const node& n);  ///< The heir of a member.
  /// Gives `n` a copy of the value of `from`; moves an array to which only `from` refers.
  void take_value(node& n, node& from);
  /// For a handle of an actor that lived on the dead rank. The actor's home has the actor made again elsewhere, from
  /// its last checkpoint, if its options allow restarts; the calls since that checkpoint are lost.
  void actor_lost(node& n, rank_id dead);

  const rank_context own_;
  lineage& lineage_;
  task_records& records_;
  completion& completion_;
  fetches& fetches_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/recovery.ipp"
#endif
