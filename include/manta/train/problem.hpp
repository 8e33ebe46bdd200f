// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What code of the program throws, as a text that can travel to the other workers.
#pragma once

#include <exception>
#include <string>

#include "manta/train/source.hpp"

namespace manta::train::detail {

/// The text of what f throws; "" if it throws nothing.
template <class F>
std::string problem_of(F&& f) {
  try {
    f();
    return {};
  } catch (const std::exception& e) {
    return *e.what() == '\0' ? "an exception without a text" : e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace manta::train::detail
