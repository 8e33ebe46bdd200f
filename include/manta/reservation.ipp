// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a reservation is made, and how a task finds its place in it.
#pragma once

#include "manta/base/text.hpp"
#include "manta/request.ipp"
#include "manta/reservation.hpp"

namespace manta::detail {

MANTA_DECL reservation reserve(const reservation_options& options, std::uint32_t token_type) {
  exec::engine& e = exec::engine::here("reserve");
  const exec::engine::guard g(e);
  if (options.bundles.empty()) throw error("manta: reserve: there are no bundles; give it at least one");
  graph::bundles wanted(options.bundles.size());
  wire::buffer bytes;
  wire::put(bytes, wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bundle& b = options.bundles[i];
    if (b.cpus < 0) throw error(base::text("manta: bundle::cpus = {} is negative", b.cpus));
    wanted[i].cpus = b.cpus;
    wanted[i].gpu_units = graph::gpu_units(b.gpus, "bundle::gpus");
    wanted[i].resources = b.resources;
    graph::require_valid(b.resources);
    wanted[i].write(bytes);
  }
  graph::require_possible(wanted, options.strategy, e.world());
  auto& ready = e.refs().make_node(wire::type_index<void>::value);
  auto met = access::make_future<void>(handle(ready));
  auto& token_node = e.refs().make_node(token_type);
  auto* const token = new reservation_token;
  store::set_box(token_node, token);
  e.completions().complete(token_node);
  handle owner(token_node);
  token->id = e.questions().reserve(bytes, options.strategy, ready);
  token->is_original = true;
  return access::make<reservation>(std::move(owner), std::move(met), token->id,
                                   std::vector<graph::bundle>(wanted.begin(), wanted.end()));
}

MANTA_DECL void put_in_reservation(graph::request& request, const reservation& in, int bundle,
                                   const std::string& what) {
  const std::vector<graph::bundle>& bundles = access::bundles_of(in);
  if (request.rank >= 0 || request.node >= 0 || request.near != graph::request::nowhere || request.spread ||
      !request.except.empty()) {
    throw error("manta: " + what + " is placed by its reservation; leave out rank, node, except, near and spread");
  }
  if (bundle < -1 || bundle >= static_cast<int>(bundles.size())) {
    throw unschedulable(base::text(
        "manta: {} asks for bundle {} of a reservation that has {} bundles; they are numbered from 0, and -1 means any",
        what, bundle, bundles.size()));
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
    offered += base::text(" [bundle {}: {}]", i, graph::describe(b));
  }
  if (fit >= members) return;
  const std::string each = graph::describe(request);
  throw unschedulable("manta: " + what + " asks for " +
                      (members == 1 ? each + ", which its reservation does not have in one bundle:"
                                    : base::text("{} ranks, each with {}, and of its reservation's bundles {}{}",
                                                 members, each, fit, fit == 1 ? " fits:" : " fit:")) +
                      offered + "; reserve more or ask for less");
}

}  // namespace manta::detail
