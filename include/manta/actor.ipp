// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The request of an actor to the scheduler, from its options.
#pragma once

#include "manta/actor.hpp"
#include "manta/request.ipp"

namespace manta::detail {

MANTA_DECL graph::request_ptr make_actor_request(exec::engine& e, const actor_options& o, const actor_traits& its) {
  if (o.concurrency < 1) throw error("manta: actor_options::concurrency must be at least 1");
  if (o.restarts < 0 || o.checkpoint_every < 0 || o.max_pending < 0) {
    throw error("manta: actor_options: restarts, checkpoint_every and max_pending must not be negative");
  }
  const bool saved_for_nothing = o.checkpoint_every > 0 && o.restarts == 0 && o.name.empty();
  if (saved_for_nothing || (o.checkpoint_every > 0 && !its.saved)) {
    throw error("manta: actor_options::checkpoint_every " +
                (saved_for_nothing ? std::string("is for restarts, and for named actors in a journal: set "
                                                 "actor_options::restarts or name too")
                                   : "saves the actor: give " + std::string(its.name) +
                                         " a serialize() function and a default constructor"));
  }
  if (!its.gang && (o.ranks != 0 || o.nodes != 0)) {
    throw error("manta: actor_options::ranks is for actors on several ranks: have the constructor of " +
                std::string(its.name) + " take manta::team first, or leave it out");
  }
  if (its.gang && o.restarts > 0) {
    throw error("manta: an actor on several ranks cannot be restarted; leave actor_options::restarts out");
  }
  auto* const request = new graph::request;
  graph::request_ptr owner(request);
  fill_request(*request, o, "actor_options", its.gang);
  request->actor = true;
  request->rules.detached = o.detached;
  request->restarts = o.restarts;
  request->rules.checkpoint_every = o.restarts > 0 || e.has_journal() ? o.checkpoint_every : 0;
  request->rules.at_least_once = o.at_least_once;
  request->rules.concurrency = o.concurrency;
  request->rules.overlap_const = o.overlap_const;
  request->rules.max_pending = o.max_pending;
  require_placeable(e, *request, o, "an actor of class " + std::string(its.name));
  return owner;
}

}  // namespace manta::detail
