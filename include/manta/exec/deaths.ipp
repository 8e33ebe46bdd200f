// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

#include "manta/base/clock.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/deaths.hpp"
#include "manta/exec/layers.hpp"

namespace manta::exec {

MANTA_DECL void deaths::look() {
  for (const net::lifeline::death& d : all_.rank.lifeline->take_deaths()) {
    const std::string news = announce(d);
    if (!news.empty()) std::fprintf(stderr, "manta: %s\n", news.c_str());
  }
  all_.rank.net.pump(true);
}

MANTA_DECL std::string deaths::announce(const net::lifeline::death& d) {
  const std::string why =
      base::text("rank {} has died: {}", d.rank, d.why.substr(d.why.starts_with("manta: ") ? 7 : 0));
  const auto is_near = [&](std::uint32_t spare) { return all_.rank.world[spare].node == all_.rank.world[d.rank].node; };
  const death_message news{d.task, d.rank, all_.rank.members.successor_of(d.rank, is_near), d.by};
  const std::string then = news.successor != 0 ? base::text("rank {}, which stood by, takes its place", news.successor)
                           : all_.rank.members.is_spare(d.rank) ? "it stood by, and had nothing to do"
                           : d.is_by_zero()                     ? ""
                                                                : "what it had to do is done elsewhere";
  for (std::uint32_t r = 1; r < all_.rank.size; ++r) {
    if (r == d.rank || all_.rank.members.is_dead(r)) continue;
    all_.rank.post.send(r, message::rank_died, news, why.data(), why.size());
  }
  rank_died(news, why);
  return then.empty() ? then : why + "; " + then;
}

MANTA_DECL void deaths::take_place(rank_id spare, rank_id rank) {
  all_.rank.members.enlist(spare);
  graph::capacity its = all_.rank.world[spare];
  if (its.node == all_.rank.world[rank].node) {
    const graph::gpu_set own = its.gpus;
    its = all_.rank.world[rank];
    if (all_.rank.sees[spare] == 0 || all_.rank.sees[spare] != all_.rank.sees[rank]) its.gpus = own;
  }
  its.executes = true;
  its.stands_by = false;
  all_.rank.world.set(spare, its);
  if (all_.rank.scheduler != nullptr) all_.rank.scheduler->joins(spare, its);
}

MANTA_DECL void deaths::rank_died(const death_message& m, const std::string& why) {
  const std::uint32_t rank = m.rank;
  if (!all_.rank.members.note_death(rank, {why, m.culprit, m.by})) return;
  // The successor takes the place before anything is placed anew, so that lost tasks can go there.
  if (m.successor != 0) take_place(m.successor, rank);
  leave_world(rank);
  all_.values.fetches.rank_died(rank);
  if (all_.rank.scheduler != nullptr) {
    const std::uint64_t broken = all_.work.placement.rank_died(rank);
    if (broken != 0) all_.work.gangs.watch().note_broken(broken, base::now_ns() + 1'000'000'000);
    all_.homes.named.rank_died(rank);
    all_.loops.quiet.rank_died();
  }
  all_.values.refs.rank_died(rank);
  all_.homes.calls.forget_sent();
  // The scheduler and the references know of the death by now, so tasks can be placed and values asked for again.
  all_.homes.lost.rank_died(rank);
  all_.values.supply.rank_died(rank);
  all_.rank.ledger.rank_died(rank);
  all_.work.gangs.rank_died(rank);
  all_.homes.orphans.rank_died();
  all_.work.gang_guard.ask_for_patience(rank);
  all_.values.supply.answer_deferred();  // what is on its way to the dead rank will not get there
}

MANTA_DECL void deaths::leave_world(rank_id dead) {
  graph::capacity nothing;
  nothing.node = -1;
  nothing.executes = false;
  all_.rank.world.set(dead, nothing);
}

}  // namespace manta::exec
