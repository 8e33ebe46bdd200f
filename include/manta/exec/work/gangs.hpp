// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several ranks start one task together, with a communicator of their own. Each
// tells the first, the leader, how its part has ended. The leader sends the result
// home, but a failure at once: the others may wait in MPI for the member that
// failed. Calls of actors on several ranks are gangs too: they come to the leader,
// which sends them on.
//
// run_part and run_call wait, in MPI too; finish_complete reads values. All other
// functions return at once.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/work/actor_host.hpp"
#include "manta/exec/work/gang_ends.hpp"
#include "manta/exec/work/gang_watch.hpp"
#include "manta/net/network.hpp"
#include "manta/net/teams.hpp"

namespace manta::exec {

class gangs {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    exec::runner& runner;
    started_list& started;
    task_records& records;
    exec::executor& executor;
    actor_host& actors;
    exec::journaling& journaling;
  };

  gangs(const rank_context& own, parts of_it) : own_(own), below_(of_it), teams_(own.net.comm()) {}

  /// From now on gangs of several ranks may start: this rank has a helper, and MPI may be used by several threads.
  void allow() { allowed_ = true; }
  /// Throws if this rank's MPI does not allow gangs as large as the request's.
  MANTA_DECL void require(const graph::request& request) const;
  /// Has a member of this rank's gangs died, for which they may wait in MPI? Then they come back by themselves.
  bool are_watched_with(rank_id dead) const { return teams_.are_watched_with(dead); }
  gang_ends& ends() { return ends_; }  ///< How members have ended, at their leaders.
  const gang_ends& ends() const { return ends_; }
  gang_watch& watch() { return watch_; }  ///< The book of gangs that may never end.
  const gang_watch& watch() const { return watch_; }
  bool are_quiet() const { return !ends_.has_complete() && !watch_.has_broken(); }  ///< Is no gang about to be ended?

  // --- members

  /// All inputs are here: runs this rank's part of a task, and tells the leader how it has ended. The leader meets the
  /// others first, in MPI.
  MANTA_DECL void run_part(task* t);
  /// Runs this rank's part of a call of an actor on several ranks; the slot is active. The leader sends the call on.
  MANTA_DECL void run_call(slot_index slot, task* t);
  /// A call that the leader has sent on fails here: tells the leader.
  MANTA_DECL void part_failed(const task& call, const store::failure_ptr& why);

  // --- leaders

  MANTA_DECL void on_ended(rank_id from, const gang_message& m, const std::byte* data,
                           std::size_t bytes);  ///< In a handler: a part has ended.
  /// At the top level, for values of members are read: the gangs whose members have all ended end at their homes.
  MANTA_DECL void finish_complete();
  /// Tells the other members of a gang or call to stop. What concerns a part must not come before it, so it takes the
  /// same way: parts of a gang come from rank 0, those of a call from this rank.
  MANTA_DECL void stop_members(std::uint64_t id, std::uint16_t flags);
  MANTA_DECL void rank_died(rank_id dead);  ///< Members on this rank will not tell any more how they ended.

 private:
  using gang_end = gang_ends::gang_end;

  /// Waits until this rank knows which member has died, which MPI knows already. Returns the failure to give.
  store::failure_ptr wait_for_death_notice(const graph::gang& g);
  bool meet(const graph::gang& g);  ///< Waits until all members are here. False if one is lost.
  /// The communicator of the members; MPI_COMM_NULL if one is lost. Others may still be on their way, so the lock is
  /// let go meanwhile. After a death MPI_Comm_create_from_group has to be alone in MPI (see net::teams::create), so
  /// they meet first and the lock is kept.
  MPI_Comm communicator_of(const graph::gang& g);
  slot_index add_part_of_actor(invocation& call, const task& t);  ///< Returns the slot of the part.
  void forward(actor_slot& slot, task* t);  ///< Sends a call on to the other parts. The channel keeps the order.
  /// The leader's own part has ended.
  void leader_ended(const graph::gang& gang, const invocation& call, bool ok, const store::failure_ptr& why);
  /// Sends the leader the end of this rank's part; `slot` is that of its part of an actor.
  void tell_leader(const graph::gang& gang, const invocation& call, store::failure_ptr why, slot_index slot);
  /// A member has ended or died. Sends the gang's first failure to the task's home at once.
  void member_ended(gang_end& end, rank_id member);
  /// All parts of an actor have been constructed or not: notes where they live, or has them end again.
  void settle_members(gang_end& end);

  const rank_context own_;
  const parts below_;
  network::teams teams_;
  gang_ends ends_;
  gang_watch watch_;
  bool allowed_ = false;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/gangs.ipp"
#endif
