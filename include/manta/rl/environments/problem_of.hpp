// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// For the checkers.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace manta::rl::detail {

/// What f throws, in words; nothing if it does not.
template <class F>
std::optional<std::string> problem_of(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "what is no std::exception";
  }
}

}  // namespace manta::rl::detail
