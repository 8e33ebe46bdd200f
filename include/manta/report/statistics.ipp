// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/report/statistics.hpp"

namespace manta {

MANTA_DECL const char* name_of(rank_state state) {
  static constexpr const char* names[rank_states] = {"task", "own", "fetch", "gang", "actor", "idle", "driver", "dead"};
  return names[static_cast<std::size_t>(state)];
}

MANTA_DECL void duration_histogram::add(const duration_histogram& other) {
  for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
}

MANTA_DECL std::uint64_t duration_histogram::count() const {
  std::uint64_t all = 0;
  for (const std::uint64_t c : counts_) all += c;
  return all;
}

/// The duration in the middle of the bucket that holds the one asked for: no duration of this bucket is farther than a
/// sixteenth from it.
MANTA_DECL double duration_histogram::quantile(double share) const {
  const std::uint64_t all = count();
  if (all == 0) return 0;
  const auto place = static_cast<std::uint64_t>(std::ceil(static_cast<double>(all) * share));  // from 1
  std::size_t at = 0;
  for (std::uint64_t before = counts_[0]; at + 1 < buckets && before < std::max<std::uint64_t>(place, 1);)
    before += counts_[++at];
  return 0.5e-9 * (begin_of(at) + begin_of(at + 1));
}

}  // namespace manta
