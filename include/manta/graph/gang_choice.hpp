// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which ranks a gang gets, of those that could take a member now. Members talk
// to each other all the time, so ranks of one node come first, and of the nodes
// that are large enough the one with the least to spare; unless the gang wants
// to be near a value, or spread.
#pragma once

#include "manta/base/containers.hpp"

namespace manta::graph {

struct gang_candidate {
  std::uint32_t rank;
  int node;
  friend bool operator==(const gang_candidate&, const gang_candidate&) = default;
};

/// What a gang asks of the nodes on which its members are.
struct gang_shape {
  std::size_t ranks = 1;
  int nodes = 0;                ///< members are spread evenly over exactly this number of nodes; 0: any
  int near = -1;                ///< a node,
  std::size_t there = 0;        ///< and how many of the members have to be on it
  bool spread = false;
  std::size_t least_nodes = 0;  ///< with `spread`: the members are on at least this number of nodes
};

/// Candidates counted by node.
class gang_nodes {
 public:
  struct count {
    int node;
    std::size_t ranks;
  };

  explicit gang_nodes(const base::list<gang_candidate>& candidates) {
    std::size_t at = 0;
    for (const gang_candidate& c : candidates) {  // mostly by node
      if (at == counts_.size() || counts_[at].node != c.node) at = find(c.node);
      if (at == counts_.size()) counts_.push_back({c.node, 0});
      ++counts_[at].ranks;
    }
  }
  bool empty() const { return counts_.empty(); }
  std::size_t size() const { return counts_.size(); }
  count& operator[](std::size_t i) { return counts_[i]; }
  std::size_t on(int node) const {
    const std::size_t at = find(node);
    return at == counts_.size() ? 0 : counts_[at].ranks;
  }
  count take(std::size_t i) {
    const count taken = counts_[i];
    counts_.remove_unordered(i);
    return taken;
  }
  std::size_t find(int node) const {
    std::size_t i = 0;
    while (i < counts_.size() && counts_[i].node != node) ++i;
    return i;
  }
  /// The smallest node that has at least `ranks`; size(): there is none.
  std::size_t smallest_fit(std::size_t ranks) const {
    std::size_t best = counts_.size();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i].ranks >= ranks && (best == counts_.size() || counts_[i].ranks < counts_[best].ranks)) best = i;
    }
    return best;
  }
  std::size_t largest() const {
    std::size_t best = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i].ranks > counts_[best].ranks) best = i;
    }
    return best;
  }

 private:
  base::list<count> counts_;
};

/// What a gang that wants to be near a node, or spread, can hope for, if these are the ranks that it may ever get: as many
/// of its members there as can be; on as many nodes as can be.
inline void set_hopes(gang_shape& shape, const base::list<gang_candidate>& ever) {
  const gang_nodes counts(ever);
  shape.least_nodes = counts.size() < shape.ranks ? counts.size() : shape.ranks;
  if (shape.near < 0) return;
  const std::size_t most = shape.nodes > 0 ? shape.ranks / static_cast<std::size_t>(shape.nodes) : shape.ranks;
  const std::size_t could_be = counts.on(shape.near);
  shape.there = could_be >= most ? most : shape.nodes > 0 ? 0 : could_be;
}

/// Puts the gang's ranks into `chosen` and returns true, or false if there are too few. `candidates` stand in the order
/// of preference within a node.
inline bool choose_gang(const base::list<gang_candidate>& candidates, const gang_shape& shape,
                        base::list<std::uint32_t>& chosen) {
  chosen.clear();
  if (candidates.size() < shape.ranks) return false;
  gang_nodes counts(candidates);
  const auto take = [&](int node, std::size_t ranks) {
    for (const gang_candidate& c : candidates) {
      if (ranks == 0) return;
      if (c.node != node) continue;
      chosen.push_back(c.rank);
      --ranks;
    }
  };
  if (shape.spread) {
    if (counts.size() < shape.least_nodes) return false;
    base::list<std::size_t> from;  // one of each node, then another one of each that has more
    from.resize(counts.size(), 0);
    for (std::size_t left = shape.ranks; left > 0;) {
      for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
        if (from[i] < counts[i].ranks) ++from[i], --left;
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) take(counts[i].node, from[i]);
    return true;
  }
  if (shape.there > 0) {
    if (counts.on(shape.near) < shape.there) return false;
    take(counts.take(counts.find(shape.near)).node, shape.there);
  }
  if (shape.nodes > 0) {
    const std::size_t each = shape.ranks / static_cast<std::size_t>(shape.nodes);
    while (chosen.size() < shape.ranks) {
      const std::size_t at = counts.smallest_fit(each);
      if (at == counts.size()) return false;
      take(counts.take(at).node, each);
    }
    return true;
  }
  while (chosen.size() < shape.ranks) {  // on one node, else over as few as there can be
    if (counts.empty()) return false;
    const std::size_t left = shape.ranks - chosen.size();
    const std::size_t fits = counts.smallest_fit(left);
    const gang_nodes::count next = counts.take(fits < counts.size() ? fits : counts.largest());
    take(next.node, next.ranks < left ? next.ranks : left);
  }
  return true;
}

}  // namespace manta::graph
