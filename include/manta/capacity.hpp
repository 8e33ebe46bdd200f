// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the ranks have, what of it is free, and why a task is where it is.
//
//   for (const manta::rank_resources& r : manta::available()) std::printf("rank %d: %g gpus free\n", r.rank, r.gpus);
//   std::puts(manta::explain(f).c_str());   // on rank 3: 48 MB of its inputs lie there
#pragma once

#include "manta/future.hpp"

namespace manta {

/// What one rank has, or one node if `rank` is -1.
struct rank_resources {
  int rank = -1;                       ///< -1: the sum of a node
  int node = 0;                        ///< nodes are numbered from 0; -1: the rank has died
  int cpus = 0;                        ///< cores; available(): those that are not reserved
  double gpus = 0;                     ///< devices, parts of them too
  graph::quantities resources = {};    ///< resources.amount("memory")
  bool runs_tasks = true;              ///< false: rank 0 of a larger world, or a spare rank
  int tasks = 0;                       ///< available(): tasks that rank 0 has placed there and that have not ended
  int actors = 0;                      ///< available(): actors that live there
};

/// What each rank has, by rank. Does not communicate.
inline std::vector<rank_resources> capacity() {
  exec::engine& e = exec::engine::here("capacity");
  const exec::engine::guard g(e);  // a spare rank may join just now
  std::vector<rank_resources> all(e.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const graph::capacity& c = e.world()[r];
    all[r].rank = static_cast<int>(r);
    all[r].node = c.node;
    all[r].cpus = c.cpus;
    all[r].gpus = static_cast<double>(c.gpus.units()) / graph::quantity_units;
    all[r].resources = c.resources;
    all[r].runs_tasks = c.executes;
  }
  return all;
}

/// What tasks, actors and reservations have left of each rank's capacity(), as rank 0 knows it. Asks rank 0 and waits
/// for its answer.
inline std::vector<rank_resources> available() {
  exec::engine& e = exec::engine::here("available");
  const exec::engine::guard g(e);
  std::vector<rank_resources> all = capacity();
  const wire::buffer bytes = e.available();
  wire::source in(bytes.data(), bytes.size());
  for (rank_resources& r : all) {
    in.get(r.cpus);
    r.gpus = static_cast<double>(in.get<std::int64_t>()) / graph::quantity_units;
    r.tasks = static_cast<int>(in.get<std::uint32_t>());
    r.actors = static_cast<int>(in.get<std::uint32_t>());
    r.resources = {};
    r.resources.read(in);
  }
  return all;
}

/// Sums by node of the ranks that run tasks.
inline std::vector<rank_resources> by_node(const std::vector<rank_resources>& ranks) {
  std::vector<rank_resources> nodes;
  for (const rank_resources& r : ranks) {
    while (static_cast<int>(nodes.size()) <= r.node) {
      nodes.emplace_back();
      nodes.back().node = static_cast<int>(nodes.size()) - 1;
      nodes.back().runs_tasks = false;
    }
    if (!r.runs_tasks) continue;
    rank_resources& n = nodes[static_cast<std::size_t>(r.node)];
    n.runs_tasks = true;
    n.cpus += r.cpus;
    n.gpus += r.gpus;
    n.tasks += r.tasks;
    n.actors += r.actors;
    for (const graph::quantity& q : r.resources) n.resources[q.name] += q.units;
  }
  return nodes;
}

/// Says in words where the task or value is and why, or what it waits for. May ask the rank that made it and rank 0,
/// and wait for their answers; other work of this rank goes on meanwhile. Costs nothing unless it is called.
template <class T>
std::string explain(const future<T>& f) {
  exec::engine& e = exec::engine::here("explain");
  const exec::engine::guard g(e);
  return e.explain(detail::access::of(f).node("explain"));
}
/// Says in words where the actor lives and why, or what its construction waits for. Asks like explain of a future.
template <class A>
std::string explain(const actor<A>& a) {
  exec::engine& e = exec::engine::here("explain");
  const exec::engine::guard g(e);
  return e.explain(detail::access::of(a).node("explain"));
}

}  // namespace manta
