// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of handle.hpp.
#pragma once

#include <string>

#include "manta/call/handle.hpp"
#include "manta/error.hpp"

namespace manta::detail {

[[noreturn]] MANTA_DECL void refuse_empty(const char* call) {
  throw error(std::string("manta: ") + call +
              " on an empty handle: nothing was assigned to it, or it was given away, by std::move or by "
              "std::move(f).get(), which takes the value out; assign it from async, put or spawn first, and call "
              "get() on the future itself where the value is needed more than once");
}

}  // namespace manta::detail
