// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of survey.hpp.
#pragma once

#include "manta/base/clock.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/survey.hpp"

namespace manta::exec {

MANTA_DECL void survey::begin(report_detail detail) {
  is_under_way_ = true;
  detail_ = detail;
  due_ns_ = base::now_ns() + patience_ns;
  tickets_.assign(all_.rank.size, nullptr);
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    if (r == all_.rank.rank.number() || all_.rank.members.is_dead(r)) continue;
    ask_message m{};
    m.kind = ask_message::report;
    m.how = static_cast<std::uint32_t>(detail);
    tickets_[r] = &all_.homes.tickets.send(r, m);
  }
  all_.rank.net.pump(true);
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

MANTA_DECL void survey::collect(report_reader& reader) {
  const wire::buffer own = own_report(detail_);
  wire::source mine(own.data(), own.size());
  reader.add(all_.rank.rank, mine);
  for (std::uint32_t r = 0; r < tickets_.size(); ++r) {
    if (tickets_[r] == nullptr) continue;
    if (tickets_[r]->state == graph::state::ready) {
      const wire::buffer bytes = all_.homes.tickets.answer_in(*tickets_[r]);
      wire::source in(bytes.data(), bytes.size());
      reader.add(r, in);
    } else {
      tickets_[r]->set(graph::node::observed);
    }
    all_.values.refs.release(*tickets_[r]);
  }
  tickets_.clear();
  is_under_way_ = is_waited_for_ = false;
}

MANTA_DECL wire::buffer survey::own_report(report_detail detail) {
  const std::uint64_t now = base::ticks();
  all_.run.times.settle(now, !all_.rank.lock.owner_is_inside(), all_.run.running.is_driver());
  const store::ledger& ledger = all_.rank.ledger;
  const graph::capacity& offered = all_.rank.world[all_.rank.rank];
  rank_facts facts;
  facts.node = all_.rank.net.node();
  facts.is_spare = all_.rank.members.is_spare(all_.rank.rank);
  facts.host = store::host_name();
  facts.cores = static_cast<int>(offered.cpus);
  facts.threads = thread_numbers::most();
  facts.budget = ledger.memory().share() == ~std::uint64_t{0} ? 0 : ledger.memory().share();
  facts.memory_bytes = ledger.memory().most();
  facts.spilled_bytes = ledger.disk().written();
  facts.sent_bytes = all_.values.supply.sent_bytes();
  facts.transfers = all_.values.supply.transfers();
  std::vector<actor_times::entry> actors = all_.run.actors.ended();
  all_.work.actors.add_living(actors);
  wire::buffer out;
  write_report(out, facts, {all_.run.times, all_.run.counts, actors}, now, detail);
  return out;
}

}  // namespace manta::exec
