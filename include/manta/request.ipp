// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the options of a task or of an actor become a request to the scheduler.
#pragma once

#include <string>

#include "manta/base/text.hpp"
#include "manta/reservation.hpp"

namespace manta::detail {

/// Notes in a request that its task belongs to a reservation; throws if it can never fit there.
MANTA_DECL void put_in_reservation(graph::request& request, const reservation& in, int bundle, const std::string& what);

/// Fills in the options that tasks and actors have in common; `kind` names their struct in errors.
template <class Options>
void fill_request(graph::request& request, const Options& o, const char* kind, bool gang) {
  const auto require_amount = [&](const char* name, int amount) {
    if (amount < 0) {
      throw error(base::text("manta: {}::{} = {} is negative", kind, name, amount));
    }
  };
  const auto require_place = [&](const char* name, int place) {
    if (place < -1) {
      throw error(base::text("manta: {}::{} = {} is none; -1 is any", kind, name, place));
    }
  };
  require_place("rank", o.rank);
  require_place("node", o.node);
  for (const std::vector<int>* list : {&o.except.ranks, &o.except.nodes}) {
    for (const int each : *list) require_amount("except", each);
  }
  require_amount("cpus", o.cpus);
  require_amount("ranks", o.ranks);
  require_amount("nodes", o.nodes);
  graph::require_valid(o.resources);
  request.name = o.name;
  request.cpus = o.cpus;
  request.gpu_units = graph::gpu_units(o.gpus, (std::string(kind) + "::gpus").c_str());
  request.resources = o.resources;
  request.ranks = gang && o.ranks == 0 ? 1 : o.ranks;
  request.nodes = o.nodes;
  request.rank = o.rank;
  request.node = o.node;
  request.except = graph::exceptions(o.except);
  request.near = o.near.valid() ? graph::request::not_known : graph::request::nowhere;
  request.spread = o.spread;
  request.isolate = o.isolate;
  if (gang && o.isolate) {
    throw error("manta: " + std::string(kind) +
                "::isolate is not for gangs: the child process of an isolated one has no MPI");
  }
}

/// Throws if no rank, no bundle of its reservation or no ranks together can ever run it.
template <class Options>
void require_placeable(exec::engine& e, graph::request& request, const Options& o, const std::string& what) {
  if (request.nodes > 0 && request.ranks % request.nodes != 0) {
    throw error(base::text("manta: ranks = {} cannot be spread evenly over nodes = {}", request.ranks, request.nodes));
  }
  if (request.ranks > 0 && request.spread && (request.nodes > 0 || o.near.valid())) {
    throw error("manta: " + what + " asks for its members to be spread over as many nodes as can be, and for " +
                (request.nodes > 0 ? base::text("nodes = {}", request.nodes) : "the node of the value in near") +
                "; leave one of the two out");
  }
  if (o.in.valid()) {
    put_in_reservation(request, o.in, o.bundle, what);
  } else if (o.bundle >= 0) {
    throw error("manta: " + what + " asks for a bundle but is in no reservation; give .in = r too");
  }
  const bool in_one_bundle = o.in.valid() && request.ranks == 0;
  if (!in_one_bundle && !request.anywhere()) request.needs_rank_0 = graph::require_possible(request, e.world(), what);
  e.gangs().require(request);
}

}  // namespace manta::detail
