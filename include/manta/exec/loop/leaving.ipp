// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

#include "manta/exec/loop/leaving.hpp"

namespace manta::exec {

MANTA_DECL void leaving::announce() {
  const std::string why = departure_.reason(base::end_signals::came());
  if (own_.rank != 0) {
    departure_.leave(why);  // until rank 0 says so
    return own_.post.send(0, message::leave, index_message{0, 0}, why.data(), why.size());
  }
  std::fprintf(stderr, "manta: %s: nothing more is started, and what runs is asked to stop\n", why.c_str());
  own_.post.send_to_others(message::leave, index_message{0, 0}, why.data(), why.size());
  leave(why);
}

MANTA_DECL void leaving::leave(const std::string& why) {
  departure_.leave(why);
  phase_.stop_and_drop();
}

}  // namespace manta::exec
