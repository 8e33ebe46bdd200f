// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the engine does with handles: those that die on any thread, and what ends
// with the last handle of a node (value/references.hpp).
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::drop_handle(node& n) {
  // What may be the last references are given up with the lock only: handlers may find the node and hold it again, and
  // refs_.release() looks for the last and the last but one.
  std::uint32_t count = n.refs.load(std::memory_order_relaxed);
  while (count > 2) {
    if (n.refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  if (role_ != role::none && current_->graph_.nodes.owns(n)) {
    const guard g(*current_);
    return current_->refs_.release(n);
  }
  foreign_drops::leave(n);
}

MANTA_DECL engine::reference_part::hooks engine::hooks_of_references() {
  static constexpr auto of = [](void* rank) -> engine& { return *static_cast<engine*>(rank); };
  return {
      .rank = this,
      .stand_in_gone = [](void* rank, node& n, std::uint64_t calls) { of(rank).leave_family(n, calls); },
      .actor_gone =
          [](void* rank, node& n) {
            engine& e = of(rank);
            const actor_place place = n.state == state::ready ? actor_place_in(n.bytes) : actor_place{no_index, 0};
            if (place.rank != no_index && !e.is_dead(place.rank))
              e.names_.keep_until_end(n.index, {place.rank, place.slot});
            if (e.names_.free(n.index)) e.answer_names();
          },
      .free_task = [](void* rank, task* t) { of(rank).free_task(t); },
  };
}

}  // namespace manta::exec
