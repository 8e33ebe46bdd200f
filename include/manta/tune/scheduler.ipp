// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of scheduler.hpp.
#pragma once

#include <cstdio>

#include "manta/tune/scheduler.hpp"

namespace manta::tune {

MANTA_DECL any_scheduler any_scheduler::clone() const {
  any_scheduler a;
  a.held_.reset(held_->clone());
  return a;
}

namespace detail {

MANTA_DECL std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

}  // namespace detail

}  // namespace manta::tune
