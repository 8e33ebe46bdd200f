// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Gangs that may never end: a member waits inside MPI for another one that has
// failed or died, or for a task that waits behind it. Nothing can get a thread out
// of MPI, but it can be said, and rank 0 can end a rank that keeps the job from its
// end.
//
// No function waits. All are called from time to time, most by the helper.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/waiters.hpp"
#include "manta/exec/work/gangs.hpp"
#include "manta/graph/scheduler.hpp"
#include "manta/net/lifeline.hpp"

namespace manta::exec {

class gang_guard {
 public:
  /// The parts that it uses.
  struct parts {
    const current_task& running;
    const run_phase& phase;
    const exec::waiters& waiters;
    const exec::executor& executor;
    const actor_host& actors;
    exec::gangs& gangs;
    const graph::offers& world;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
    net::lifeline* const& lifeline;      ///< null: deaths end the job
  };

  gang_guard(const rank_context& own, parts of_it) : own_(own), below_(of_it) {}

  MANTA_DECL void watch();  ///< Looks after the gangs that this rank leads; on rank 0, after all that wait too.

  // --- members and leaders

  /// At a leader: tells rank 0, again and again, of members that have not ended long after another one has failed.
  MANTA_DECL void watch_members();
  /// At a member: if the leader has died, which is to report those that are stuck, this rank reports itself.
  MANTA_DECL void watch_leader();
  /// Says it if a part of an actor has the rank's thread, perhaps inside MPI where it waits for the other parts, and
  /// what one of these may wait for stands here. `was_here`: the thread has called manta meanwhile.
  MANTA_DECL void watch_part(bool was_here);
  /// A member has died. Tells rank 0 that this rank will come back from its gang by itself, if it will.
  void ask_for_patience(rank_id dead) {
    if (below_.gangs.are_watched_with(dead)) own_.post.send(0, message::stuck, stuck_message{own_.rank, 1});
  }

  // --- rank 0

  MANTA_DECL void watch_waiting();  ///< Says that a task or a gang may wait for ever.
  /// Called without the lock. Rank 0 may block inside MPI on a member of its gang that has died, and nobody else can
  /// end rank 0: the job ends after ten seconds.
  MANTA_DECL void watch_lonely() const;
  /// Ends the ranks of gangs that wait inside MPI for a member that has died, when their time is over.
  MANTA_DECL void end_broken();
  /// A rank is stuck. When the driver has returned nobody needs what the member would still do, and the run cannot end
  /// before it. It may compute, and not be stuck: where it takes the job with it, it gets more time.
  MANTA_DECL void on_stuck(const stuck_message& m);

 private:
  const rank_context own_;
  const parts below_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/gang_guard.ipp"
#endif
