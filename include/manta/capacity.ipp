// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What ranks have and what of it is free.
#pragma once

#include "manta/capacity.hpp"

namespace manta {

MANTA_DECL std::vector<rank_resources> capacity() {
  exec::engine& e = exec::engine::here("capacity");
  const exec::engine::guard g(e);  // a spare rank may join just now
  std::vector<rank_resources> all(e.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto& c = e.world()[r];
    all[r].rank = static_cast<int>(r);
    all[r].node = c.node;
    all[r].cpus = c.cpus;
    all[r].gpus = static_cast<double>(c.gpus.units()) / graph::quantity_units;
    all[r].resources = c.resources;
    all[r].runs_tasks = c.executes;
  }
  return all;
}

MANTA_DECL std::vector<rank_resources> available() {
  exec::engine& e = exec::engine::here("available");
  const exec::engine::guard g(e);
  std::vector<rank_resources> all = capacity();
  const wire::buffer bytes = e.questions().available();
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

MANTA_DECL void let_rank_0_run_tasks() {
  exec::engine& e = exec::engine::here("let_rank_0_run_tasks");
  const exec::engine::guard g(e);
  e.let_rank_0_run_tasks();
}

MANTA_DECL std::vector<rank_resources> by_node(const std::vector<rank_resources>& ranks) {
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
    for (const auto& q : r.resources) n.resources[q.name] += q.units;
  }
  return nodes;
}

}  // namespace manta
