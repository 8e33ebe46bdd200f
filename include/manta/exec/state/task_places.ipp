// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/exec/state/task_places.hpp"

namespace manta::exec {

MANTA_DECL graph::grant task_places::place::why() const {
  graph::grant g;
  g.rank = static_cast<std::int32_t>(rank());
  g.reason = static_cast<graph::placement_reason>(bits_ >> reason_bit & 0xff);
  g.bundle = static_cast<std::int32_t>(bits_ >> bundle_bit & bundle_mask);
  return g;
}

MANTA_DECL void task_places::note_sent(std::uint64_t key, rank_id to, const graph::request* wanted) {
  const graph::grant g = wanted == nullptr ? graph::grant{} : wanted->granted;
  const std::uint64_t bundle = g.bundle < 0 ? 0 : static_cast<std::uint64_t>(g.bundle) & bundle_mask;
  places_.insert(key) = to | static_cast<std::uint64_t>(g.reason) << reason_bit | bundle << bundle_bit;
}

MANTA_DECL void task_places::note_ended(std::uint64_t key, rank_id from, bool remember) {
  places_.erase(key);
  if (!remember) return;
  if (ended_.size() == most_ended) ended_.pop_front();
  ended_.push_back({key, from});
}

MANTA_DECL bool task_places::take_cancelled(std::uint64_t key) {
  const std::uint64_t* const at = places_.find(key);
  if (at == nullptr || (*at & is_cancelled) == 0) return false;
  places_.erase(key);
  return true;
}

MANTA_DECL void task_places::rank_died(rank_id dead) {
  for (std::size_t i = ended_.size(); i > 0; --i) {
    const ended_task e = ended_.pop_front();
    if (e.rank == dead) ended_by_dead_.insert(e.key) = dead;
    ended_.push_back(e);
  }
}

}  // namespace manta::exec
