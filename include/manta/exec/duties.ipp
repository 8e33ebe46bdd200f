// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/allocation.hpp"
#include "manta/base/clock.hpp"
#include "manta/exec/duties.hpp"
#include "manta/exec/handlers.hpp"
#include "manta/exec/layers.hpp"

namespace manta::exec {

MANTA_DECL bool duties::receive() {
  bool any = all_.rank.net.poll([this](int from, std::uint8_t kind, const std::byte* data, std::size_t bytes) {
    handle_message(all_, static_cast<std::uint32_t>(from), static_cast<message>(kind), data, bytes);
  });
  any |= all_.rank.net.poll_bulk([this](std::uint64_t token) { all_.values.fetches.on_block(token); });
  return any;
}

MANTA_DECL void duties::attend() {
  all_.loops.loop.report_memory();
  if (all_.values.attempts.has_timers()) all_.values.attempts.look_at_clock();
  if (all_.homes.orphans.has_to_look()) [[unlikely]]
    all_.homes.orphans.look(base::now_ns());
  if (all_.rank.ledger.files().unwanted() != 0) all_.rank.ledger.files().unmap_unwanted();
  if (all_.rank.lifeline != nullptr && all_.rank.lifeline->news()) all_.deaths.look();
  if (all_.work.gangs.watch().has_broken()) all_.work.gang_guard.end_broken();
  if (all_.loops.leaving.is_due()) [[unlikely]] {
    all_.seeing.note_end();
    all_.loops.leaving.announce();
  }
  if (base::state_signal::has_come()) [[unlikely]]
    all_.seeing.on_signal();
  if (all_.run.trace.is_on()) [[unlikely]]
    all_.tracing.look();
  if (all_.rank.scheduler == nullptr) return;
  all_.work.placement.place();
  all_.seeing.look();
}

MANTA_DECL bool duties::progress() {
  bool any = receive();
  if (all_.values.fetches.has_arrivals()) {
    all_.values.fetches.decode_arrived();
    any = true;
  }
  if (all_.work.gangs.ends().has_complete()) all_.work.gangs.finish_complete();
  for (node* const n : all_.values.foreign_drops.empty() ? base::list<node*>() : all_.values.foreign_drops.take()) {
    if (all_.rank.graph.nodes.owns(*n)) all_.values.refs.release(*n);  // else it outlived its runtime
  }
  if (all_.values.attempts.has_to_judge()) all_.values.attempts.judge_failures();
  if (all_.run.phase.has_to_drop()) {
    all_.ending.drop_unstarted();
    all_.run.waiters.note_stop();
  }
  if (all_.run.waiters.any_timed()) all_.run.waiters.check_deadlines(base::now_ns());
  if (all_.run.waiters.any_with_descriptor()) all_.run.waiters.check_descriptors();
  if (all_.run.waiters.has_news_of_stops()) all_.run.waiters.check_stops();
  if (all_.run.throttle.holds()) all_.loops.waiting.let_go();
  attend();
  return any;
}

MANTA_DECL bool duties::answer_for_owner() {
  const std::uint64_t before = all_.rank.net.counters().sent();
  receive();
  attend();
  all_.rank.ledger.pay_back();
  const bool sent = all_.rank.net.counters().sent() != before;
  serve_others();
  all_.rank.net.pump(true);
  return sent;
}

MANTA_DECL void duties::serve_others() {
  all_.loops.loop.report_long_task();
  if (all_.rank.scheduler != nullptr) all_.work.placement.ask_for_work();
  if (all_.homes.home.owes_tasks()) all_.homes.home.give_away(true);
  all_.work.gang_guard.watch();
  all_.work.gang_guard.watch_leader();
}

MANTA_DECL std::int64_t duties::may_sleep_ns(unsigned in_vain) const {
  if (!all_.rank.net.idle()) return 200'000;
  if (all_.rank.net.is_woken_by_all()) return all_.run.waiters.longest_sleep(all_.values.attempts.has_timers());
  return in_vain > 50 ? 1'000'000 : 200'000;
}

}  // namespace manta::exec
