// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Chooses the ranks of a gang among the ranks that could take a member now. Members communicate all the time, so the
// choice prefers ranks of one node, and among the nodes that are large enough the one with the fewest other candidates.
// A gang that wants to be near a value, or spread, is placed otherwise.
#pragma once

#include "manta/base/containers.hpp"
#include "manta/graph/ids.hpp"

namespace manta::graph {

struct gang_candidate {
  std::uint32_t rank;
  int node;
  friend bool operator==(const gang_candidate&, const gang_candidate&) = default;
};

/// The conditions of a gang on the nodes of its members.
struct gang_shape {
  std::size_t ranks = 1;
  int nodes = 0;                   ///< members are spread evenly over exactly this number of nodes; 0: any
  int near = -1;                   ///< the node that it wants to be near; -1: none
  std::uint32_t first = no_index;  ///< the rank of that node that comes first, if it can be a member
  std::size_t there = 0;           ///< number of members that must be on that node
  bool spread = false;
  std::size_t least_nodes = 0;  ///< least number of nodes on which the members are, with `spread`
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
    for (const gang_candidate& c : candidates) {  // candidates of a node mostly stand together
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
  /// The smallest node that has at least `ranks` candidates; size(): there is none.
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

/// Sets how many members are to be on the node that the gang wants to be near, of whose ranks `could_be` may ever join.
inline void set_hopes(gang_shape& shape, std::size_t could_be) {
  const std::size_t most = shape.nodes > 0 ? shape.ranks / static_cast<std::size_t>(shape.nodes) : shape.ranks;
  shape.there = could_be >= most ? most : shape.nodes > 0 ? 0 : could_be;
}
/// Sets the best placement that the gang can reach on the ranks `ever`, the ones that it may ever get: the largest
/// number of members on the node that it wants to be near, and the largest number of nodes if it is to be spread.
inline void set_hopes(gang_shape& shape, const base::list<gang_candidate>& ever) {
  const gang_nodes counts(ever);
  shape.least_nodes = counts.size() < shape.ranks ? counts.size() : shape.ranks;
  if (shape.near >= 0) set_hopes(shape, counts.on(shape.near));
}

/// Puts the gang's ranks into `chosen` and returns true; returns false if there are too few candidates. Within a node,
/// the candidates stand in the order of preference.
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
    base::list<std::size_t> from;  // one candidate of each node, then a second one of each node that has more, ...
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
  while (chosen.size() < shape.ranks) {  // on one node, else on as few nodes as possible
    if (counts.empty()) return false;
    const std::size_t left = shape.ranks - chosen.size();
    const std::size_t fits = counts.smallest_fit(left);
    const gang_nodes::count next = counts.take(fits < counts.size() ? fits : counts.largest());
    take(next.node, next.ranks < left ? next.ranks : left);
  }
  return true;
}

}  // namespace manta::graph
