// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whether the ranks of the world can ever meet a request. If not, the error says what is missing where, and what
// the ranks offer.
#pragma once

#include <string>

#include "manta/base/text.hpp"
#include "manta/graph/gang_choice.hpp"
#include "manta/graph/offers.hpp"
#include "manta/graph/request.hpp"

namespace manta::graph {

/// Describes what the ranks offer; ranks that offer the same are named together.
inline std::string describe(const offers& world) {
  struct kind {
    std::size_t first, count;
  };
  base::list<kind> kinds;
  const auto offers_same = [](const capacity& a, const capacity& b) {
    return a.executes == b.executes && a.stands_by == b.stands_by && a.cpus == b.cpus &&
           a.gpus.units() == b.gpus.units() && a.node == b.node && a.resources == b.resources;
  };
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    std::size_t k = 0;
    while (k < kinds.size() && !offers_same(world[kinds[k].first], world[rank])) ++k;
    if (k == kinds.size()) kinds.push_back({rank, 0});
    ++kinds[k].count;
  }
  std::string text;
  for (const kind& k : kinds) {
    const capacity& c = world[k.first];
    text += base::text(" [rank {}", k.first);
    if (k.count > 1) text += base::text(" and {} more", k.count - 1);
    text += c.executes    ? base::text(": cpus = {}, node = {}", c.cpus, c.node)
            : c.node < 0  ? ": it has died"
            : c.stands_by ? ": no tasks (it stands by for ranks that die)"
                          : ": no tasks (it schedules; runtime_options.rank0_tasks lets it run some)";
    if (c.gpus.units() > 0) text += ", gpus = " + describe_units(c.gpus.units());
    if (!c.resources.empty()) text += ", " + describe(c.resources);
    text += "]";
  }
  return text;
}

/// Describes what a rank lacks for a request; `kinds` becomes the number of kinds of resources that it lacks.
inline std::string lacks(const request& wanted, int rank, const capacity& c, int& kinds) {
  std::string text;
  kinds = 0;
  const auto add = [&](const std::string& what) { text += (kinds++ == 0 ? "" : ", ") + what; };
  if (wanted.rank >= 0 && wanted.rank != rank) add(base::text("is not rank {}", wanted.rank));
  if (wanted.node >= 0 && wanted.node != c.node) add(base::text("is not on node {}", wanted.node));
  if (wanted.except.has(rank, c.node)) add("is excepted");
  if (wanted.cpus > c.cpus) add(base::text("lacks cpus = {}", wanted.cpus - c.cpus));
  if (!c.gpus.can_fit(wanted.gpu_units)) {
    const std::int64_t missing = wanted.gpu_units - c.gpus.units();
    add(missing > 0 ? "lacks gpus = " + describe_units(missing) : std::string("has no device whole enough"));
  }
  for (const quantity& q : wanted.resources) {
    const std::int64_t there = c.resources.of(q.name);
    if (there < q.units) add("lacks " + q.name + " = " + describe_amount(q.name, q.units - there));
  }
  return text;
}

/// What to do about a request that no rank can run: by what `c` lacks.
inline std::string advice(const request& wanted, const capacity& c) {
  std::string text;
  const auto add = [&](const std::string& what) { text += "; " + what; };
  if (wanted.cpus > c.cpus) add("ask for fewer cpus, or give ranks more (SLURM_CPUS_PER_TASK, MANTA_CPUS)");
  if (!c.gpus.can_fit(wanted.gpu_units)) {
    add("ask for fewer gpus, or let ranks see more (Slurm's --gpus-per-task, CUDA_VISIBLE_DEVICES, MANTA_GPUS)");
  }
  for (const quantity& q : wanted.resources) {
    if (c.resources.of(q.name) < q.units) add("ask for less " + q.name + ", or offer more (MANTA_RESOURCES)");
  }
  return text.empty() ? "; name another place" : text;
}

inline bool all_live(const offers& world) {
  for (std::size_t r = 0; r < world.size(); ++r) {
    if (world[r].node < 0) return false;
  }
  return true;
}

/// Throws unschedulable if no rank can ever run the task, or too few ranks can run the gang. The error names what the
/// best rank lacks, and what the ranks offer. Returns true if the request can be met only with rank 0, which otherwise
/// only schedules. Rank 0 joins no gang after a rank has died: if another member died too, rank 0 might wait for it
/// inside MPI for ever, which would end the job.
inline bool require_possible(const request& wanted, const offers& world, const std::string& what) {
  base::list<gang_candidate> possible;
  std::size_t nearest = world.size();
  int fewest = 0;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    if (wanted.possible(static_cast<int>(rank), world[rank])) {
      if (wanted.ranks == 0) return false;
      possible.push_back({static_cast<std::uint32_t>(rank), world[rank].node});
      continue;
    }
    int kinds = 0;
    if (world[rank].executes) (void)lacks(wanted, static_cast<int>(rank), world[rank], kinds);
    if (world[rank].executes && (nearest == world.size() || kinds < fewest)) {
      nearest = rank;
      fewest = kinds;
    }
  }
  const gang_shape shape{static_cast<std::size_t>(wanted.ranks), wanted.nodes};
  const std::size_t fit = possible.size();
  base::list<std::uint32_t> members;
  if (wanted.ranks > 0 && choose_gang(possible, shape, members)) return false;
  if (!world[0].executes && wanted.reservation == 0 && (wanted.ranks == 0 || all_live(world)) &&
      wanted.fits_on(0, world[0])) {
    possible.push_back({0, world[0].node});
    if (wanted.ranks == 0 || choose_gang(possible, shape, members)) return true;
  }
  std::string text = "manta: no rank can ever run " + what + ": it asks for ";
  if (wanted.ranks > 0) {
    text = base::text("manta: {} can never run: it asks for {} ranks{}, and {} fit{}: each with ", what, wanted.ranks,
                      wanted.nodes > 0 ? base::text(" on {} nodes", wanted.nodes) : "", fit,
                      possible.size() > fit ? " (one more with rank 0, which otherwise runs no tasks)" : "");
  }
  text += describe(wanted);
  text += describe_place(wanted);
  if (nearest < world.size()) {
    text += base::text("; nearest is rank {}, which {}", nearest,
                       lacks(wanted, static_cast<int>(nearest), world[nearest], fewest));
  }
  text += base::text("; the world of size {} offers:{}", world.size(), describe(world));
  const bool is_too_few = fit > 0 || nearest == world.size();
  throw unschedulable(text + (is_too_few ? "; start more ranks, or ask for fewer" : advice(wanted, world[nearest])));
}

}  // namespace manta::graph
