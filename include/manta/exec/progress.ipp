// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank does when it looks around: it receives, does what comes with time and
// from outside, and ends what is over, in this one order.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL bool engine::receive() {
  bool any = rank_.net.poll([this](int from, std::uint8_t kind, const std::byte* data, std::size_t bytes) {
    on_message(static_cast<std::uint32_t>(from), static_cast<message>(kind), data, bytes);
  });
  any |= rank_.net.poll_bulk([this](std::uint64_t token) { values_.fetches.on_block(token); });
  return any;
}

/// What comes with time and from outside; runs nothing of the user's.
MANTA_DECL void engine::attend() {
  loops_.loop.report_memory();
  if (values_.attempts.has_timers()) values_.attempts.look_at_clock();
  if (rank_.ledger.files().unwanted() != 0) rank_.ledger.files().unmap_unwanted();
  if (rank_.lifeline != nullptr && rank_.lifeline->news()) look_for_deaths();
  if (work_.gangs.watch().has_broken()) work_.gang_guard.end_broken();
  if (must_leave()) [[unlikely]] look_for_end();
  if (rank_.scheduler != nullptr) work_.placement.place();
}

MANTA_DECL bool engine::progress() {
  bool any = receive();
  if (values_.fetches.has_arrivals()) {
    values_.fetches.decode_arrived();
    any = true;
  }
  if (work_.gangs.ends().has_complete()) work_.gangs.finish_complete();
  for (node* const n : values_.foreign_drops.empty() ? base::list<node*>() : values_.foreign_drops.take()) {
    if (rank_.graph.nodes.owns(*n)) values_.refs.release(*n);  // else it outlived its runtime
  }
  if (values_.attempts.has_to_judge()) values_.attempts.judge_failures();
  if (run_.phase.has_to_drop()) drop_unstarted();
  if (run_.waiters.any_timed()) run_.waiters.check_deadlines(base::now_ns());
  if (run_.waiters.any_with_descriptor()) run_.waiters.check_descriptors();
  if (run_.waiters.has_news_of_stops()) run_.waiters.check_stops();
  if (run_.throttle.holds()) loops_.waiting.let_go();
  attend();
  return any;
}

}  // namespace manta::exec
