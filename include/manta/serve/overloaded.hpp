// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which errors say that a request may be sent again later: a queue that is full, a run that is about to end.
#pragma once

#include <exception>

#include "manta/error.hpp"
#include "manta/serve/status.hpp"

namespace manta::serve::detail {

inline bool is_overload(const std::exception& e) {
  if (const auto* const failed = dynamic_cast<const task_failed*>(&e)) {  // of a deployment that another one calls
    const std::string& type = failed->details().type;
    return type == "manta::cancelled" || type == "manta::serve::overloaded" || type == "manta::serve::unavailable" ||
           type == "manta::serve::expired";
  }
  return dynamic_cast<const overloaded*>(&e) != nullptr || dynamic_cast<const unavailable*>(&e) != nullptr ||
         dynamic_cast<const expired*>(&e) != nullptr || dynamic_cast<const actor_busy*>(&e) != nullptr ||
         dynamic_cast<const cancelled*>(&e) != nullptr;
}

}  // namespace manta::serve::detail
