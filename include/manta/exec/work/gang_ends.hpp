// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// At the leaders of gangs: how the members have ended, who has come to a
// meeting, and which gangs are to be finished at the top level. Calls of actors
// on several ranks are gangs too.
//
// This part keeps the books: it owns what members have sent, sends nothing and
// never waits. Tasks are the engine's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/invocation.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/task.hpp"
#include "manta/store/failure.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::exec {

class gang_ends {
 public:
  /// A gang that has not been finished.
  struct gang_end {
    /// What a member has sent: its part of the value, or the slot of its part of an actor.
    struct part {
      std::uint32_t member;  ///< its place in the gang
      wire::buffer bytes;
      part* next;
    };
    std::uint64_t gang = 0;                ///< number of the gang
    std::size_t missing = 0;               ///< number of members that have not ended
    base::list<std::uint32_t> ended;       ///< ranks of the members that have ended
    graph::task* leader = nullptr;         ///< the leader's own part of the task; null until it has begun
    invocation* value = nullptr;           ///< result of the leader's own part, owned
    part* parts = nullptr;                 ///< owned
    store::failure_ptr why;                ///< the first failure
    bool told = false;                     ///< the home knows of the failure
    slot_index slot = graph::no_index;     ///< slot of the actor, for a call
    std::int64_t failed_ns = 0;            ///< time of the first failure; later that of its last report
    bool said = false;                     ///< the user knows that members have not ended
    bool has_ended(rank_id member) const;  ///< Has the member on this rank said that it has ended?
  };

  gang_ends() = default;
  gang_ends(const gang_ends&) = delete;
  gang_ends& operator=(const gang_ends&) = delete;
  ~gang_ends();  ///< Frees the records of gangs that have not ended.

  /// A number for a call of an actor on several ranks, beside the scheduler's numbers for gangs.
  std::uint64_t next_call() { return ++calls_ | std::uint64_t{1} << 63; }
  bool empty() const { return ends_.size() == 0; }
  /// The gang with this number, made if it is new. `size` counts its members.
  gang_end& of(std::uint64_t gang, std::size_t size);
  /// visit(end) for each gang that has begun to end and is not finished.
  template <class Visit>
  void for_each(Visit&& visit) const {
    ends_.for_each(visit);
  }
  /// The gangs of this member whose leaders have begun, and that are not complete.
  base::list<gang_end*> with_member(rank_id member) const;

  /// The member with this place in the gang has sent a part.
  void add_part(gang_end& end, std::uint32_t place, wire::buffer&& bytes);
  /// A member has ended or died, which counts once. True if the home is to hear of the failure now.
  bool note_ended(gang_end& end, rank_id member, std::int64_t now_ns);
  /// Appends the members' values to the leader's, in the order of their ranks. Throws what their load() throws.
  static void merge_parts(gang_end& end);
  /// Have all members of some gang ended?
  bool has_complete() const { return !complete_.empty(); }
  /// Such a gang. It is returned once.
  gang_end& take_complete();
  /// Forgets the gang, and deletes what it owns.
  void finish(gang_end& end);

  /// A member says that it waits for the others.
  void note_arrival(std::uint64_t gang) { ++meetings_.insert(gang); }
  /// The number of members that have said so to this rank.
  std::uint64_t arrivals(std::uint64_t gang) const;
  void end_meeting(std::uint64_t gang) { meetings_.erase(gang); }

 private:
  std::uint64_t calls_ = 0;
  base::pointer_table<gang_end> ends_;  // by number of the gang
  base::list<gang_end*> complete_;
  mutable base::index_table meetings_;  // number of a gang -> arrivals
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/gang_ends.ipp"
#endif
