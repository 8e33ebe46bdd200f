// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the ranks offer, how much of it is free, and why a task runs where it runs.
//
//   for (const manta::rank_resources& r : manta::available()) std::printf("rank %d: %g gpus free\n", r.rank, r.gpus);
//   std::puts(manta::explain(f).c_str());   // on rank 3: 48 MB of its inputs lie there
#pragma once

#include "manta/future.hpp"
#include "manta/quantities.hpp"

namespace manta {

/// What one rank offers, or one node if `rank` is -1.
struct rank_resources {
  int rank = -1;              ///< -1: the sum of a node
  int node = 0;               ///< nodes are numbered from 0; -1: the rank has died
  int cpus = 0;               ///< cores; available(): cores that are not reserved
  double gpus = 0;            ///< devices; fractions are possible
  quantities resources = {};  ///< resources.amount("memory")
  bool runs_tasks = true;     ///< false: rank 0 of a larger world, or a spare rank
  int tasks = 0;              ///< available(): tasks that rank 0 has placed there and that have not ended
  int actors = 0;             ///< available(): actors that live there
};

/// What each rank offers, by rank. Does not communicate.
MANTA_DECL std::vector<rank_resources> capacity();

/// The part of each rank's capacity() that no task, actor or reservation holds. Asks rank 0, whose bookkeeping it
/// shows, and waits for the answer.
MANTA_DECL std::vector<rank_resources> available();

/// From now on rank 0 runs tasks and has actors, whenever the driver waits, as with runtime_options::rank0_tasks: for a
/// program that finds out in its run that it needs all ranks. Has an effect on rank 0 alone. Does not communicate.
MANTA_DECL void let_rank_0_run_tasks();

/// Sums by node of the ranks that run tasks.
MANTA_DECL std::vector<rank_resources> by_node(const std::vector<rank_resources>& ranks);

/// Describes in words where the task or value is and why, or what the task waits for. May ask the rank that made the
/// future and rank 0, and wait for their answers; other work of this rank goes on meanwhile.
template <class T>
std::string explain(const future<T>& f) {
  exec::engine& e = exec::engine::here("explain");
  const exec::engine::guard g(e);
  return e.questions().explain(detail::access::of(f).node("explain"));
}
/// Describes in words where the actor lives and why, or what its construction waits for. Communicates as for a future.
template <class A>
std::string explain(const actor<A>& a) {
  exec::engine& e = exec::engine::here("explain");
  const exec::engine::guard g(e);
  return e.questions().explain(detail::access::of(a).node("explain"));
}

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/capacity.ipp"
#endif
