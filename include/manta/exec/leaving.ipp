// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A run that has to end before its work is done: the allocation ends soon, or a
// signal has asked for it. Nothing more is started: what has not begun, and what
// is submitted from then on, fails with `cancelled`; what runs sees
// stop_requested(); calls of actors still go through, so that the driver can
// save what they hold.
//
// A task that is known to take longer than the time that is left is not begun
// either, but set aside: there may be others that fit. When nothing else is
// left to do, the end has come.
#pragma once

#include <cmath>
#include <ctime>

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// At the top level: must_leave().
MANTA_DECL void engine::look_for_end() {
  const std::string why = run_.departure.reason(base::end_signals::came());
  if (rank_.rank != 0) {
    run_.departure.leave(why);  // until rank 0 says so
    return rank_.post.send(0, message::leave, index_message{0, 0}, why.data(), why.size());
  }
  std::fprintf(stderr, "manta: %s: nothing more is started, and what runs is asked to stop\n", why.c_str());
  for (std::uint32_t r = 1; r < rank_.size; ++r)
    rank_.post.send(r, message::leave, index_message{0, 0}, why.data(), why.size());
  leave(why);
}

MANTA_DECL void engine::leave(const std::string& why) {
  run_.departure.leave(why);
  run_.phase.stop_and_drop();
}

}  // namespace manta::exec
