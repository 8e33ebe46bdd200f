// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Submitters that run ahead of those who run their tasks, or of the memory for values.
#pragma once

#include <algorithm>

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL bool engine::may_get_room() { return throttle_.may_get_room(ledger_.memory().is_short(), unfinished()); }

MANTA_DECL void engine::hold_back() {
  if (phase_.is_stopping() || !throttle_.may_hold()) return;
  while (throttle_.is_ahead(unfinished()) || may_get_room()) {
    const throttle::state before{unfinished(), ledger_.memory().charged()};
    const bool was_ahead = throttle_.is_ahead(before.unfinished);
    wait_record room;
    room.remaining = 1;
    room.deadline = base::now_ns() + throttle::patience_ns;
    throttle_.hold(room);
    wait(room);
    throttle_.release(room);
    if (room.over()) return;
    throttle_.note_patience(before, {unfinished(), ledger_.memory().charged()}, was_ahead);
  }
}

MANTA_DECL void engine::let_go() {
  if (!throttle_.has_room(unfinished()) || may_get_room()) return;
  for (wait_record* const each : throttle_.held()) {
    each->remaining = 0;
    waiters_.wake(*each);
  }
}

}  // namespace manta::exec
