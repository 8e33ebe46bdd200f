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
  std::vector<double> losses;
  for (const tried& t : done_) losses.push_back(t.loss);
  const std::vector<bool> stays = detail::worth_keeping(losses, most);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < done_.size(); ++i) {
    if (!stays[i]) continue;
    if (kept != i) done_[kept] = std::move(done_[i]);
    ++kept;
  }
  done_.resize(kept);
}

MANTA_DECL std::vector<bool> detail::worth_keeping(const std::vector<double>& losses, std::size_t most) {
  std::vector<bool> stays(losses.size(), true);
  if (losses.size() <= most) return stays;
  const std::size_t best = most / 4, old = losses.size() - (most - best);
  std::vector<double> of_old(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(old));
  const auto cut = of_old.begin() + static_cast<std::ptrdiff_t>(best - 1);
  std::nth_element(of_old.begin(), cut, of_old.end());
  const double bound = *cut;
  std::size_t room = best;
  for (std::size_t i = 0; i < old; ++i) {
    stays[i] = losses[i] <= bound && room > 0;
    room -= stays[i];
  }
  return stays;
}

}  // namespace manta::tune
