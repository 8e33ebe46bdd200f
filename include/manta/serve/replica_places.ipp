// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <tuple>

#include "manta/base/text.hpp"
#include "manta/serve/replica_places.hpp"

namespace manta::serve::detail {

/// Whether a rank has what each replica asks for, as far as it is the same for all time.
inline bool fits(const rank_resources& r, const options& o) {
  if (r.node < 0 || (o.node >= 0 && r.node != o.node) || r.cpus < o.cpus || r.gpus < o.gpus) return false;
  return std::all_of(o.resources.begin(), o.resources.end(),
                     [&](const auto& q) { return r.resources.amount(q.name) >= o.resources.amount(q.name); });
}

/// The ranks that may have replicas; those of servers and routers, and rank 0, only where they are asked for.
inline std::vector<int> replica_places::possible(const std::vector<rank_resources>& all, bool busy_too) const {
  std::vector<int> ranks;
  for (const rank_resources& each : all) {
    const auto busy = busy_.find(each.rank);
    if (!fits(each, options_) || stuck_.count(each.rank) != 0) continue;
    if (busy == busy_.end() ? !each.runs_tasks && !busy_too : busy->second || !busy_too) continue;
    ranks.push_back(each.rank);
  }
  return ranks;
}

MANTA_DECL std::vector<int> replica_places::free(const std::vector<int>& taken, std::size_t count) const {
  std::vector<int> ranks = possible(are_exclusive() ? available() : capacity(), false);
  if (are_exclusive()) {  // where there is something left; the scheduler knows best
    return std::vector<int>(std::min(count, ranks.size()), -1);
  }
  std::erase_if(ranks, [&](int rank) { return std::find(taken.begin(), taken.end(), rank) != taken.end(); });
  std::sort(ranks.begin(), ranks.end(),
            [](int a, int b) { return std::tuple(places_in_use::on(a), a) < std::tuple(places_in_use::on(b), b); });
  ranks.resize(std::min(count, ranks.size()));
  return ranks;
}

MANTA_DECL int replica_places::next(const std::vector<int>& taken) const {
  std::vector<int> ranks = possible(capacity(), false);
  if (ranks.empty()) ranks = possible(capacity(), true);
  if (are_exclusive() && !ranks.empty()) return -1;
  if (ranks.empty()) {
    const bool refused = std::any_of(busy_.begin(), busy_.end(), [](const auto& b) { return b.second; });
    if (!refused && stuck_.empty()) return -1;  // the scheduler says why no rank fits
    throw unschedulable(
        base::text("no rank is left for a replica: {} of {} have a server that wants none beside it, or "
                   "a call that does not return",
                   stuck_.size() + busy_.size(), capacity().size()));
  }
  const auto load = [&](int rank) {
    return std::tuple(std::count(taken.begin(), taken.end(), rank), places_in_use::on(rank), rank);
  };
  return *std::min_element(ranks.begin(), ranks.end(), [&](int a, int b) { return load(a) < load(b); });
}

}  // namespace manta::serve::detail
