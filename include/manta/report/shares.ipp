// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/vector.hpp"
#include "manta/report/shares.hpp"

#include <algorithm>

namespace manta::report {

MANTA_DECL bool works(const statistics& s, const rank_statistics& rank) {
  if (rank.is_spare || !rank.is_known) return false;
  return s.ranks.size() == 1 || rank.rank != 0 || rank.tasks > 0;
}

MANTA_DECL working_ranks working_ranks_of(const statistics& s) {
  working_ranks all;
  for (const rank_statistics& rank : s.ranks) {
    if (!works(s, rank)) continue;
    ++all.count;
    for (std::size_t i = 0; i < rank_states; ++i) {
      all.seconds[i] += rank.seconds[i];
      all.all_seconds += rank.seconds[i];
    }
  }
  return all;
}

MANTA_DECL task_totals totals_of(const statistics& s) {
  task_totals all;
  for (const function_statistics& f : s.functions) {
    all.tasks += f.tasks;
    all.failed += f.failed;
    all.retried += f.retried;
    all.cancelled += f.cancelled;
    all.seconds += f.seconds;
    all.waited += f.waited;
  }
  return all;
}

MANTA_DECL std::vector<std::uint64_t> memory_by_node(const statistics& s) {
  std::vector<std::uint64_t> bytes(s.nodes.size(), 0);
  for (const rank_statistics& rank : s.ranks) {
    const auto node = static_cast<std::size_t>(rank.node);
    if (rank.node >= 0 && node < bytes.size()) bytes[node] += rank.memory_bytes;
  }
  return bytes;
}

MANTA_DECL value_totals values_of(const statistics& s) {
  value_totals all;
  for (const rank_statistics& rank : s.ranks) {
    all.sent_bytes += rank.sent_bytes;
    all.transfers += rank.transfers;
    all.spilled_bytes += rank.spilled_bytes;
  }
  const std::vector<std::uint64_t> bytes = memory_by_node(s);
  const auto most = std::max_element(bytes.begin(), bytes.end());
  if (most != bytes.end() && *most > 0) {
    all.memory_bytes = *most;
    all.node = static_cast<int>(most - bytes.begin());
  }
  return all;
}

MANTA_DECL base::vector<state_seconds> bins_of_working_ranks(const statistics& s) {
  base::vector<state_seconds> sums;
  for (const rank_statistics& rank : s.ranks) {
    // A row of a whole node has rank 0 and the spare ranks in it, which are few among all.
    if (!s.bins_by_node && !works(s, rank)) continue;
    sums.resize(std::max(sums.size(), rank.bins.size()));
    for (std::size_t b = 0; b < rank.bins.size(); ++b) {
      for (std::size_t i = 0; i < rank_states; ++i) sums[b][i] += static_cast<double>(rank.bins[b].seconds[i]);
    }
  }
  return sums;
}

MANTA_DECL working_ranks ranks_between(const statistics& s, const base::vector<state_seconds>& bins, double begin,
                                       double end) {
  working_ranks part;
  part.count = working_ranks_of(s).count;
  for (std::size_t b = 0; b < bins.size() && s.bin_seconds > 0; ++b) {
    const double from = static_cast<double>(b) * s.bin_seconds, to = from + s.bin_seconds;
    const double common = (std::min(to, end) - std::max(from, begin)) / s.bin_seconds;
    for (std::size_t i = 0; i < rank_states && common > 0; ++i) {
      part.seconds[i] += common * bins[b][i];
      part.all_seconds += common * bins[b][i];
    }
  }
  return part;
}

MANTA_DECL std::string host_of(const statistics& s, int node) {
  const auto at = static_cast<std::size_t>(node);
  return node >= 0 && at < s.nodes.size() ? s.nodes[at].host : std::string();
}

}  // namespace manta::report
