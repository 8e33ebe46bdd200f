// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of history.hpp.
#pragma once

#include <algorithm>

#include "manta/tune/history.hpp"

namespace manta::tune {

MANTA_DECL void history::ended(trial_number t, double loss) {
  const auto at = under_way_.find(t);
  if (at == under_way_.end()) return;
  succeeded_ += is_finite(loss);
  done_.push_back({std::move(at->second), is_finite(loss) ? loss : infinity});
  under_way_.erase(at);
}

MANTA_DECL void history::trim(std::size_t most) {
  if (done_.size() < most + most / 4) return;
  const std::size_t old = done_.size() - (most - most / 4);
  std::vector<double> losses;
  for (std::size_t i = 0; i < old; ++i) losses.push_back(done_[i].loss);
  const auto cut = losses.begin() + static_cast<std::ptrdiff_t>(most / 4 - 1);
  std::nth_element(losses.begin(), cut, losses.end());
  const double bound = *cut;
  std::size_t room = most / 4, kept = 0;
  for (std::size_t i = 0; i < done_.size(); ++i) {
    const bool stays = i >= old || (done_[i].loss <= bound && room > 0);
    if (!stays) continue;
    room -= i < old;
    if (kept != i) done_[kept] = std::move(done_[i]);
    ++kept;
  }
  done_.resize(kept);
}

}  // namespace manta::tune
