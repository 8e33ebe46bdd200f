// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A part of a gang, or of a call of its actor, that has come to this rank and
// has not started. Other parts may have started, so it starts as well.
#pragma once

#include <cstdint>
#include <cstring>

#include "manta/exec/actor/slots.hpp"
#include "manta/exec/message_queue.hpp"
#include "manta/exec/messages.hpp"
#include "manta/exec/task/staging.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

/// Where the parts of gangs wait, and those of calls.
struct waiting_parts {
  const staging& tasks;
  const message_queue& inbox;
  actor_slots& actors;
  const message_queue& calls;

  /// Does a part of the task wait here that is to be cancelled, or of the call if it is one?
  bool have(const cancel_message& m) const {
    const std::uint64_t id = m.id;
    const auto is_part = [id](const graph::task& t) { return t.id == id && t.gang != nullptr; };
    const auto is_message = [id](const message_queue::view& v) {
      task_message header;
      std::memcpy(&header, v.data, sizeof header);
      return header.id == id && (header.flags & task_message::has_gang) != 0;
    };
    if (m.slot != graph::no_index) return actors[m.slot].mailbox.find(is_part) != nullptr || calls.any(is_message);
    const graph::task* const waits = tasks.find_waiting(id, is_part);
    return (waits != nullptr && is_part(*waits)) || tasks.find_ready(is_part) != nullptr || inbox.any(is_message);
  }
};

}  // namespace manta::exec
