// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/exec/work/explanations.hpp"
#include "manta/store/value.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::exec {

MANTA_DECL std::string describe(const graph::grant& g) {
  const std::string where = base::text("on rank {}: ", g.rank);
  switch (g.reason) {
    case graph::placement_reason::rank: return where + "it asked for that rank";
    case graph::placement_reason::node: return where + "the rank of the node it asked for with the least work";
    case graph::placement_reason::near: return where + "the value it asked to be near lies there";
    case graph::placement_reason::data:
      return where + (g.near_bytes != 0 ? store::describe_bytes(g.near_bytes) + " of its inputs lie there"
                                        : "its inputs lie there");
    case graph::placement_reason::spread: return where + "of the ranks that fit, it had the fewest tasks";
    case graph::placement_reason::bundle:
      return where + (g.bundle >= 0 ? base::text("bundle {}", g.bundle) : std::string("a bundle")) +
             " of its reservation lies there";
    case graph::placement_reason::least_work: return where + "of the ranks that fit, it had the least work";
    case graph::placement_reason::ahead:
      return where + "its inputs were being made there, and it was sent ahead of them";
    case graph::placement_reason::gang: return where + "it leads its gang there, on ranks that had nothing to do";
    case graph::placement_reason::gang_near:
      return where +
             "it leads its gang there: as many members as can be are on the node where the value lies that it asked to "
             "be near";
    case graph::placement_reason::gang_spread:
      return where + "it leads its gang there, which is on as many nodes as can be";
    case graph::placement_reason::gang_in_bundles:
      return where + "it leads its gang there, in a bundle" +
             (g.bundle >= 0 ? base::text(" ({})", g.bundle) : std::string()) + " and others of its reservation";
    case graph::placement_reason::none: return base::text("on rank {}", g.rank);
    case graph::placement_reason::room: break;
  }
  return where + "it had nothing to do, or room";
}

MANTA_DECL std::string explain_missing(const graph::node& n) {
  std::string text = base::text("waits for {} of its inputs:", n.missing);
  int named = 0;
  for (std::uint32_t i = 0; i < n.record->input_count && named < 5; ++i) {
    const graph::node& input = *n.record->inputs()[i];
    if (input.state != graph::state::pending) continue;
    text += std::string(named++ == 0 ? " '" : ", '") +
            std::string(input.function == graph::no_index ? "a value of another rank"
                                                          : wire::function_at(input.function).name()) +
            "'";
  }
  return text;
}

MANTA_DECL std::string explain_waiting(const graph::request& wanted, const graph::scheduler& scheduler,
                                       const graph::offers& world) {
  std::string text = "waits at rank 0: it asks for " + graph::describe(wanted);
  if (wanted.ranks > 0) text += base::text(", ranks = {} with nothing to do at the same moment", wanted.ranks);
  if (wanted.nodes > 0) text += base::text(", nodes = {}", wanted.nodes);
  text += graph::describe_place(wanted);
  if (wanted.near >= 0) text += base::text(", near a value on rank {}", wanted.near);
  if (wanted.ranks > 0 && wanted.spread) text += ", spread over as many nodes as can be";
  if (wanted.priority != 0) text += base::text(", priority = {}", wanted.priority);
  if (wanted.reservation != 0) {
    const graph::reservation* r = scheduler.held().find_reservation(wanted.reservation);
    if (!r->met) return text + "; its reservation is not met yet";
    for (std::size_t i = 0; i < r->parts.size(); ++i) {
      if (wanted.bundle >= 0 && i != static_cast<std::size_t>(wanted.bundle)) continue;
      const graph::reservation::part& p = r->parts[i];
      text += base::text("; bundle {} on rank {} has free {}, and {} tasks are there", i, p.rank,
                         graph::describe(graph::needs{p.wanted.cpus, p.free.gpus.units(), p.free.named}),
                         scheduler.load().sent(p.rank));
      if (scheduler.load().in_gang(p.rank)) text += " (in a gang)";
    }
    return text;
  }
  int shown = 0;
  for (const std::uint32_t r : scheduler.load().executing()) {
    if (!wanted.possible(static_cast<int>(r), world[r])) continue;
    if (++shown > 8) return text + "; ...";
    const graph::stock& free = scheduler.held().free_on(r);
    text += base::text("; rank {} has free {}, and {} tasks and {} actors are there", r,
                       graph::describe(graph::needs{free.cpus, free.gpus.units(), free.named}),
                       scheduler.load().sent(r), scheduler.held().actors(r));
    if (scheduler.held().keeps_free(r)) text += " (kept free for a reservation)";
    if (scheduler.gang().keeps(r)) text += " (kept free for a gang)";
    if (scheduler.load().in_gang(r)) text += " (in a gang)";
  }
  return text;
}

MANTA_DECL wire::buffer describe_free(const graph::scheduler& scheduler, std::uint32_t ranks) {
  wire::buffer all;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const graph::stock& free = scheduler.held().free_on(r);
    wire::put(all, free.cpus);
    wire::put(all, free.gpus.units());
    wire::put(all, scheduler.load().sent(r));
    wire::put(all, scheduler.held().actors(r));
    free.named.write(all);
  }
  return all;
}

}  // namespace manta::exec
