// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which ranks a gang gets, of those that could take a member now. Members talk
// to each other all the time, so ranks of one node come first, and of the nodes
// that are large enough the one with the least to spare.
#pragma once

#include "manta/base/containers.hpp"

namespace manta::graph {

struct gang_candidate {
  std::uint32_t rank;
  int node;
  friend bool operator==(const gang_candidate&, const gang_candidate&) = default;
};

/// Puts `wanted` ranks into `chosen` and returns true, or false if there are too few. `candidates` stand in the order
/// of preference within a node. With `nodes` > 0 the gang has as many ranks on each of exactly that many nodes.
inline bool choose_gang(const base::list<gang_candidate>& candidates, std::size_t wanted, int nodes,
                        base::list<std::uint32_t>& chosen) {
  chosen.clear();
  if (candidates.size() < wanted) return false;
  struct node_count {
    int node;
    std::size_t ranks;
  };
  base::list<node_count> counts;
  for (const gang_candidate& c : candidates) {
    std::size_t i = 0;
    while (i < counts.size() && counts[i].node != c.node) ++i;
    if (i == counts.size()) counts.push_back({c.node, 0});
    ++counts[i].ranks;
  }
  const auto take = [&](int node, std::size_t ranks) {
    for (const gang_candidate& c : candidates) {
      if (ranks == 0) return;
      if (c.node != node) continue;
      chosen.push_back(c.rank);
      --ranks;
    }
  };
  // of the nodes not taken yet that have at least `ranks`, the one with the fewest; else -1.
  const auto smallest_fit = [&](std::size_t ranks) {
    std::size_t best = counts.size();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i].ranks >= ranks && (best == counts.size() || counts[i].ranks < counts[best].ranks)) best = i;
    }
    return best;
  };
  if (nodes > 0) {
    const std::size_t each = wanted / static_cast<std::size_t>(nodes);
    for (int n = 0; n < nodes; ++n) {
      const std::size_t at = smallest_fit(each);
      if (at == counts.size()) return false;
      take(counts[at].node, each);
      counts.remove_unordered(at);
    }
    return true;
  }
  if (const std::size_t at = smallest_fit(wanted); at < counts.size()) {
    take(counts[at].node, wanted);
    return true;
  }
  while (chosen.size() < wanted) {  // over as few nodes as there can be
    std::size_t most = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i].ranks > counts[most].ranks) most = i;
    }
    const std::size_t left = wanted - chosen.size();
    take(counts[most].node, counts[most].ranks < left ? counts[most].ranks : left);
    counts.remove_unordered(most);
  }
  return true;
}

}  // namespace manta::graph
