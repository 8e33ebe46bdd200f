// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks that have died. Rank 0 hears of a death (net/lifeline.hpp) and tells all others. Then each rank, for itself,
// forgets the dead one, and sees to what it is the home of:
//
//   a task that was there    is submitted again: while recovery is possible the home keeps what it was made of. A task
//                            has caused the death if it ran when the rank died by its own doing (an exit, a signal,
//                            MPI_Abort), or was the second to be killed under it: its retries count, and without any
//                            left it fails with rank_lost. One that has cost a rank never runs on rank 0
//   a value that was there   is made again by its task, if that is still known; else whoever asks gets object_lost
//   an actor that lived there is dead, and calls that were under way fail with actor_died; the one that has caused the
//                            death, with rank_lost
//   a rank that stood by       takes its place, and has its resources (runtime_options::spares)
//   a gang with a member there has failed, and is started again; members that do not come back from MPI are ended
//
// Values and actors of a dead home survive wherever another rank has a copy: a rank that needs one asks all others
// (seek). A value of which nobody has a copy is made once more by the task that had given its handle away, if the value
// in which it did so has been read here (value/lineage.hpp); else it is lost. Tasks that ran on the dead rank run again
// elsewhere, and submit their own tasks anew, under the same ids. Messages from the dead rank that are handled after
// the news are thrown away; none is sent to it (net::network::abandon).
#pragma once

#include <string>

#include "manta/base/config.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/net/lifeline.hpp"

namespace manta::exec {

struct rank_parts;

class deaths {
 public:
  explicit deaths(rank_parts& all) : all_(all) {}

  /// Rank 0: takes the deaths that its lifelines have noticed, and announces them.
  MANTA_DECL void look();
  /// Rank 0: sends `rank_died` to all others. Returns the death and what follows from it in words; nothing if rank 0
  /// has said it before.
  MANTA_DECL std::string announce(const net::lifeline::death& d);
  /// Every rank. The one order in which the parts hear of a death: who lives; what comes from there no more; what rank
  /// 0 has sent there; the nodes, values before tasks; then all else that is kept for a rank.
  MANTA_DECL void rank_died(const death_message& m, const std::string& why);

 private:
  /// A rank that stood by has from now on what the dead rank had; on another node, what it has there itself. On the
  /// same node it has devices of the dead rank only if both see the same ones; else it has its own.
  void take_place(rank_id spare, rank_id rank);
  /// The dead rank has no place and no resources any more.
  void leave_world(rank_id dead);

  rank_parts& all_;
};

}  // namespace manta::exec
