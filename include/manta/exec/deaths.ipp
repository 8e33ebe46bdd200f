// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks that have died. Rank 0 hears of it (net/lifeline.hpp) and tells all
// others; then each rank, for itself, forgets the dead one and sees to what it
// is the home of:
//
//   a task that was there    is submitted again: while recovery is possible the home keeps what it was made of. That
//   which ran
//                            when the rank died by its own doing (an exit, a signal, MPI_Abort), or was the second to
//                            be killed under it, has caused the death: its retries count, and without any left it fails
//                            with rank_lost. One that has cost a rank never runs on rank 0
//   a value that was there   is made again by its task, if that is still known; else whoever asks gets object_lost
//   an actor that lived there is dead, and calls that were under way fail with actor_died; the one that has caused the
//                            death, with rank_lost
//   a rank that stood by       takes its place, and has its resources (runtime_options::spares)
//   a gang with a member there has failed, and is started again; members that do not come back from MPI are ended
//
// What the dead rank was the home of, what it had put and the results of what its tasks had submitted, lives on where
// others have a value of it: who needs it asks them all (seek). What nobody has is made once more by the task that had
// given the handle away, if the value in which it did so has been read here (value/lineage.hpp); else it is lost. Tasks
// that were running there run again elsewhere, and submit what they had submitted anew, under the same ids. Messages
// from it that are handled after the news are thrown away; none is sent to it (net::network::abandon).
#pragma once

#include <algorithm>
#include <bit>

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Collective.
MANTA_DECL void engine::connect_lifelines(const engine_options& options) {
  if (rank_.size == 1 || !options.recovery) return;
  rank_.lifeline = new net::lifeline(rank_.net, options.heartbeat_ns);
  if (rank_.lifeline->is_up()) {
    rank_.members.set_recovers();
    if (!has_journal()) homes_.tasks.keep_records_above(sizeof(std::uint64_t) + 1);
    net::print_mpi_warnings_here();
    struct sigaction pipe {};  // MPI may write to a connection whose other end has died
    if (::sigaction(SIGPIPE, nullptr, &pipe) == 0 && pipe.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
    if (rank_.rank == 0) base::launcher::get().tell("survives\n");
    return;
  }
  delete std::exchange(rank_.lifeline, nullptr);
  if (rank_.rank == 0) {
    std::fprintf(stderr,
                 "manta: not all ranks can reach rank 0 by TCP, so the death of a rank will not be noticed, and the "
                 "program may hang then%s; allow connections between the nodes of the job\n",
                 rank_.members.has_spares() ? ", and the ranks that stand by never run anything" : "");
  }
}

// --- rank 0 hears of it

MANTA_DECL void engine::look_for_deaths() {
  for (const net::lifeline::death& d : rank_.lifeline->take_deaths()) {
    const std::string why =
        "rank " + std::to_string(d.rank) + " has died: " + d.why.substr(d.why.starts_with("manta: ") ? 7 : 0);
    const auto is_near = [&](std::uint32_t spare) { return rank_.world[spare].node == rank_.world[d.rank].node; };
    const death_message news{d.task, d.rank, rank_.members.successor_of(d.rank, is_near), d.by};
    const std::string then = news.successor != 0
                                 ? "rank " + std::to_string(news.successor) + ", which stood by, takes its place"
                             : rank_.members.is_spare(d.rank) ? "it stood by, and had nothing to do"
                                                         : "what it had to do is done elsewhere";
    std::fprintf(stderr, "manta: %s; %s\n", why.c_str(), then.c_str());
    for (std::uint32_t r = 1; r < rank_.size; ++r) {
      if (r != d.rank && !is_dead(r)) rank_.post.send(r, message::rank_died, news, why.data(), why.size());
    }
    on_rank_died(news, why);
  }
  rank_.net.pump(true);
}

// --- every rank

/// It has from now on what the dead rank had; on another node, what it has there itself.
/// On the same node it has all that the dead rank had, but devices only if both see the same ones; else it has its own.
MANTA_DECL void engine::take_place(rank_id spare, rank_id rank) {
  rank_.members.enlist(spare);
  graph::capacity& its = rank_.world[spare];
  if (its.node == rank_.world[rank].node) {
    const graph::gpu_set own = its.gpus;
    its = rank_.world[rank];
    if (rank_.sees[spare] == 0 || rank_.sees[spare] != rank_.sees[rank]) its.gpus = own;
  }
  its.executes = true;
  its.stands_by = false;
  if (rank_.scheduler != nullptr) rank_.scheduler->joins(spare, its);
}

/// The one order in which the parts hear of a death: who lives; what comes from there no more; what rank 0 has sent
/// there; the nodes, values before tasks; then all else that is kept for a rank.
MANTA_DECL void engine::on_rank_died(const death_message& m, const std::string& why) {
  const std::uint32_t rank = m.rank;
  if (!rank_.members.note_death(rank, {why, m.culprit, m.by})) return;
  if (m.successor != 0) take_place(m.successor, rank);
  leave_world(rank);
  values_.fetches.rank_died(rank);
  if (rank_.scheduler != nullptr) {
    const std::uint64_t broken = work_.placement.rank_died(rank);
    if (broken != 0) work_.gangs.watch().note_broken(broken, base::now_ns() + 1'000'000'000);
    homes_.named.rank_died(rank);
    loops_.quiet.rank_died();
  }
  homes_.calls.forget_sent();
  homes_.lost.rank_died(rank);
  values_.supply.rank_died(rank);
  rank_.ledger.rank_died(rank);
  work_.gangs.rank_died(rank);
  work_.gang_guard.ask_for_patience(rank);
  values_.supply.answer_deferred();  // what is on its way to the dead rank will not get there
}

MANTA_DECL void engine::leave_world(rank_id dead) {
  rank_.world[dead] = graph::capacity{};
  rank_.world[dead].node = -1;
  rank_.world[dead].executes = false;
}

}  // namespace manta::exec
