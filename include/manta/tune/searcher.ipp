// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of searcher.hpp.
#pragma once

#include "manta/tune/searcher.hpp"

namespace manta::tune {

MANTA_DECL any_searcher any_searcher::clone() const {
  any_searcher a;
  a.held_ = held_->clone();
  return a;
}

}  // namespace manta::tune
