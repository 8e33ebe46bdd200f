// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of history.hpp.
#pragma once

#include "manta/tune/history.hpp"

namespace manta::tune {

MANTA_DECL void history::ended(trial_number t, double loss) {
  const auto at = under_way_.find(t);
  if (at == under_way_.end()) return;
  if (is_finite(loss)) done_.push_back({std::move(at->second), loss});
  under_way_.erase(at);
}

}  // namespace manta::tune
