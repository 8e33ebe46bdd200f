// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a task finds its place in a reservation.
#pragma once

#include "manta/reservation.hpp"

namespace manta::detail {

MANTA_DECL void put_in_reservation(graph::request& request, const reservation& in, int bundle,
                                   const std::string& what) {
  const std::vector<graph::bundle>& bundles = access::bundles_of(in);
  if (request.rank >= 0 || request.node >= 0 || request.near != graph::request::nowhere || request.spread) {
    throw error("manta: " + what + " is placed by its reservation; leave out rank, node, near and spread");
  }
  if (bundle < -1 || bundle >= static_cast<int>(bundles.size())) {
    throw unschedulable("manta: " + what + " asks for bundle " + std::to_string(bundle) +
                        " of a reservation that has " + std::to_string(bundles.size()) +
                        " bundles; they are numbered from 0, and -1 means any");
  }
  request.reservation = access::id_of(in);
  request.bundle = bundle;
  const int members = request.ranks > 0 ? request.ranks : 1;
  int fit = 0;
  std::string offered;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const auto& b = bundles[i];
    if (bundle >= 0 && i != static_cast<std::size_t>(bundle)) continue;
    fit += b.is_enough_for(request);
    offered += " [bundle " + std::to_string(i) + ": " + graph::describe(b.cpus, b.gpu_units, b.resources) + "]";
  }
  if (fit >= members) return;
  const std::string each = graph::describe(request.cpus, request.gpu_units, request.resources);
  throw unschedulable("manta: " + what + " asks for " +
                      (members == 1 ? each + ", which its reservation does not have in one bundle:"
                                    : std::to_string(members) + " ranks, each with " + each +
                                          ", and of its reservation's bundles " + std::to_string(fit) +
                                          (fit == 1 ? " fits:" : " fit:")) +
                      offered + "; reserve more or ask for less");
}

}  // namespace manta::detail
