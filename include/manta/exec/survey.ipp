// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/clock.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/survey.hpp"

namespace manta::exec {

MANTA_DECL void survey::begin(enum ask_message::kind what, std::uint32_t how, std::int64_t within_ns) {
  is_under_way_ = true;
  due_ns_ = base::now_ns() + within_ns;
  tickets_.assign(all_.rank.size, nullptr);
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    if (r == all_.rank.rank.number() || all_.rank.members.is_dead(r)) continue;
    ask_message m{};
    m.kind = what;
    m.how = how;
    tickets_[r] = &all_.homes.tickets.send(r, m);
  }
  if (all_.rank.size > 1) all_.rank.net.pump(true);
}

MANTA_DECL bool survey::is_complete(std::int64_t now_ns) const {
  if (now_ns >= due_ns_) return true;
  for (const graph::node* const ticket : tickets_) {
    if (ticket != nullptr && ticket->state == graph::state::pending) return false;
  }
  return true;
}

MANTA_DECL void survey::wait() {
  is_waited_for_ = true;
  for (graph::node* const ticket : tickets_) {
    if (ticket != nullptr) all_.loops.waiting.wait_for_end(*ticket, due_ns_);
  }
}

MANTA_DECL wire::buffer survey::take(rank_id rank) {
  graph::node& ticket = *tickets_[rank.number()];
  wire::buffer bytes;
  if (ticket.state == graph::state::ready) {
    bytes = all_.homes.tickets.answer_in(ticket);
  } else {
    ticket.set(graph::node::observed);
  }
  all_.values.refs.release(ticket);
  return bytes;
}

}  // namespace manta::exec
