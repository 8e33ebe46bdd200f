// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ranks that can take a member of one kind of gang, counted by node, and the nodes by their count: so that the
// ranks of a gang are found without a look at all ranks. A rank that can take a member again is added. One that cannot
// any more is noticed when its turn comes, and taken out then.
//
// The choice is that of choose_gang (gang_choice.hpp). Of equal nodes it is the first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "manta/graph/gang_choice.hpp"

namespace manta::graph {

class gang_index {
 public:
  bool empty() const { return order_.empty(); }
  void free() { *this = gang_index(); }

  /// Begins anew with these ranks, none of which can take a member; node_of(rank) has a node for each.
  template <class NodeOf>
  void begin(const base::list<std::uint32_t>& ranks, NodeOf&& node_of) {
    free();
    for (const std::uint32_t rank : ranks) {
      const auto node = static_cast<std::uint32_t>(node_of(rank));
      if (node >= nodes_.size()) nodes_.resize(node + 1, {});
      if (rank >= ranks_.size()) ranks_.resize(rank + 1, {});
      ranks_[rank] = {node, false};
      ++nodes_[node].end;
    }
    std::uint32_t first = 0, most = 0;
    for (node_of_ranks& n : nodes_) {
      most = std::max(most, n.end);
      n.first = std::exchange(first, first + n.end);
      n.end = n.first;
    }
    order_.resize(ranks.size(), 0);
    // Rank 0 comes last on its node, because it could not schedule while it is inside MPI.
    bool is_0_there = false;
    for (const std::uint32_t rank : ranks) {
      if (rank == 0) is_0_there = true;
      else append(rank);
    }
    if (is_0_there) append(0);
    words_ = (nodes_.size() + 63) / 64;
    any_.resize(words_, 0);
    with_count_.resize((most + 1) * words_, 0);
    number_.resize(most + 1, 0);
  }
  /// The rank can take a member, or seems to.
  void add(std::uint32_t rank) {
    if (rank >= ranks_.size() || std::exchange(ranks_[rank].can, true)) return;
    count(ranks_[rank].node, 1);
    ++total_;
  }
  std::size_t size() const { return total_; }
  /// Whether a rank of this node can take a member, or seems to.
  bool has_node(int node) const {
    const auto at = static_cast<std::uint32_t>(node);
    return at < nodes_.size() && nodes_[at].count > 0;
  }
  /// Number of ranks of the node for which is(rank) is true.
  template <class Is>
  std::size_t count_on(int node, Is&& is) const {
    const auto at = static_cast<std::uint32_t>(node);
    if (at >= nodes_.size()) return 0;
    std::size_t found = 0;
    for (std::uint32_t i = nodes_[at].first; i < nodes_[at].end; ++i) found += is(order_[i]);
    return found;
  }
  /// Chooses the ranks of a gang and takes them out: true; or there are too few. can(rank): whether it still
  /// can take a member.
  template <class Can>
  bool choose(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    chosen.clear();
    hidden_.clear();
    const bool is_found = total_ >= shape.ranks && choose_by_shape(shape, can, chosen);
    for (const std::uint32_t rank : hidden_) add(rank);
    if (is_found) return true;
    for (const std::uint32_t rank : chosen) add(rank);
    return false;
  }

 private:
  void append(std::uint32_t rank) { order_[nodes_[ranks_[rank].node].end++] = rank; }
  template <class Can>
  bool choose_by_shape(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    if (shape.spread) return choose_spread(shape, can, chosen);
    if (!choose_there(shape, can, chosen)) return false;
    return shape.nodes > 0 ? choose_equal(shape, can, chosen) : choose_few(shape, can, chosen);
  }
  /// The members that are to be on the node that the gang wants to be near.
  template <class Can>
  bool choose_there(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    if (shape.there == 0) return true;
    if (!has_node(shape.near)) return false;
    const auto node = static_cast<std::uint32_t>(shape.near), there = static_cast<std::uint32_t>(shape.there);
    if (nodes_[node].count < there || !all_can(node, there, can)) return false;
    const bool is_first = shape.first < ranks_.size() && ranks_[shape.first].can && can(shape.first);
    if (is_first) {
      remove(shape.first);
      chosen.push_back(shape.first);
    }
    take(node, there - is_first, chosen);
    hide(node);
    return true;
  }
  /// On one node, else on as few nodes as possible.
  template <class Can>
  bool choose_few(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    while (chosen.size() < shape.ranks && total_ >= shape.ranks - chosen.size()) {
      const auto left = static_cast<std::uint32_t>(shape.ranks - chosen.size());
      const std::uint32_t node = best(left);
      if (all_can(node, left, can)) take(node, left, chosen);
    }
    return chosen.size() == shape.ranks;
  }
  /// On each of `shape.nodes` nodes equally many members.
  template <class Can>
  bool choose_equal(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    const auto each = static_cast<std::uint32_t>(shape.ranks / static_cast<std::size_t>(shape.nodes));
    while (chosen.size() < shape.ranks) {
      if (total_ < each) return false;
      const std::uint32_t node = best(each);
      if (nodes_[node].count < each) return false;
      if (!all_can(node, each, can)) continue;
      take(node, each, chosen);
      hide(node);
    }
    return true;
  }
  /// One of each node, then a second one of each node that has more, ...
  template <class Can>
  bool choose_spread(const gang_shape& shape, Can&& can, base::list<std::uint32_t>& chosen) {
    base::list<std::uint32_t> on, from;
    for (std::uint32_t w = 0; w < any_.size(); ++w) {
      for (std::uint64_t left = any_[w]; left != 0 && on.size() < shape.ranks; left &= left - 1) {
        const std::uint32_t node = 64 * w + static_cast<std::uint32_t>(std::countr_zero(left));
        if (all_can(node, 1, can)) on.push_back(node);
      }
    }
    if (on.size() < shape.least_nodes) return false;
    from.resize(on.size(), 1);
    std::size_t left = shape.ranks - on.size();
    if (left > 0) {
      for (const std::uint32_t node : on) all_can(node, nodes_[node].count, can);
      if (total_ < shape.ranks) return false;
    }
    while (left > 0) {
      for (std::size_t i = 0; i < on.size() && left > 0; ++i) {
        if (from[i] < nodes_[on[i]].count) ++from[i], --left;
      }
    }
    for (std::size_t i = 0; i < on.size(); ++i) take(on[i], from[i], chosen);
    return true;
  }

  struct node_of_ranks {
    std::uint32_t first = 0, end = 0;  // in order_
    std::uint32_t count = 0;           // of its ranks that can take a member
  };
  struct rank_place {
    std::uint32_t node = 0;
    bool can = false;
  };

  std::uint64_t& word(std::uint32_t count, std::uint32_t node) { return with_count_[count * words_ + node / 64]; }
  void count(std::uint32_t node, std::uint32_t more) {
    std::uint32_t& now = nodes_[node].count;
    word(now, node) &= ~(std::uint64_t{1} << node % 64);
    number_[now] -= now != 0;
    now += more;
    std::uint64_t& any = any_[node / 64];
    const std::uint64_t bit = std::uint64_t{1} << node % 64;
    any = now == 0 ? any & ~bit : any | bit;
    if (now == 0) return;
    word(now, node) |= std::uint64_t{1} << node % 64;
    ++number_[now];
  }
  void remove(std::uint32_t rank) {
    ranks_[rank].can = false;
    count(ranks_[rank].node, ~std::uint32_t{0});
    --total_;
  }
  /// The node with the fewest ranks that suffice, else the one with the most. There is a rank.
  std::uint32_t best(std::uint32_t wanted) const {
    const auto most = static_cast<std::uint32_t>(number_.size() - 1);
    std::uint32_t at = wanted;
    while (at <= most && number_[at] == 0) ++at;
    if (at > most) {
      at = std::min(wanted - 1, most);
      while (number_[at] == 0) --at;
    }
    std::uint32_t w = 0;
    while (with_count_[at * words_ + w] == 0) ++w;
    return 64 * w + static_cast<std::uint32_t>(std::countr_zero(with_count_[at * words_ + w]));
  }
  /// Can as many ranks of the node take a member as are wanted, or as many as were thought? Takes
  /// out those that cannot.
  template <class Can>
  bool all_can(std::uint32_t node, std::uint32_t wanted, Can&& can) {
    const node_of_ranks n = nodes_[node];
    std::uint32_t found = 0;
    for (std::uint32_t i = n.first; i < n.end && found < wanted; ++i) {
      if (!ranks_[order_[i]].can) continue;
      can(order_[i]) ? static_cast<void>(++found) : remove(order_[i]);
    }
    return found == std::min(wanted, n.count);
  }
  void take(std::uint32_t node, std::uint32_t wanted, base::list<std::uint32_t>& chosen) {
    const node_of_ranks n = nodes_[node];
    for (std::uint32_t i = n.first; i < n.end && wanted > 0; ++i) {
      if (!ranks_[order_[i]].can) continue;
      remove(order_[i]);
      chosen.push_back(order_[i]);
      --wanted;
    }
  }

  /// No further rank of the node is chosen now.
  void hide(std::uint32_t node) {
    const node_of_ranks n = nodes_[node];
    for (std::uint32_t i = n.first; i < n.end && nodes_[node].count > 0; ++i) {
      if (!ranks_[order_[i]].can) continue;
      remove(order_[i]);
      hidden_.push_back(order_[i]);
    }
  }

  base::list<std::uint32_t> order_;   // the ranks, by node
  base::list<std::uint32_t> hidden_;  // the ranks that are not chosen now
  base::list<node_of_ranks> nodes_;
  base::list<rank_place> ranks_;
  base::list<std::uint64_t> with_count_;  // for each count a bit for each node
  base::list<std::uint32_t> number_;      // for each count but 0 the number of nodes
  base::list<std::uint64_t> any_;         // a bit for each node with a count
  std::size_t words_ = 0;
  std::size_t total_ = 0;
};

}  // namespace manta::graph
