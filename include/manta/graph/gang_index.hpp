// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ranks that can take a member of one kind of gang, counted by node, and the nodes by their count: so that the
// ranks of a gang are found without a look at all ranks. A rank that can take a member again is added. One that cannot
// any more is noticed when its turn comes, and taken out then.
//
// The choice is that of choose_gang (gang_choice.hpp) for gangs without wishes: one node, the one with the fewest ranks
// that suffice, else as few nodes as possible. Of equal nodes it is the first.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"

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
    for (const std::uint32_t rank : ranks) order_[nodes_[ranks_[rank].node].end++] = rank;
    words_ = (nodes_.size() + 63) / 64;
    with_count_.resize((most + 1) * words_, 0);
    number_.resize(most + 1, 0);
  }
  /// The rank can take a member, or seems to.
  void add(std::uint32_t rank) {
    if (rank >= ranks_.size() || std::exchange(ranks_[rank].can, true)) return;
    count(ranks_[rank].node, 1);
    ++total_;
  }
  /// Chooses the ranks of a gang and takes them out: true; or there are too few. can(rank): whether it still
  /// can take a member.
  template <class Can>
  bool choose(std::size_t ranks, Can&& can, base::list<std::uint32_t>& chosen) {
    chosen.clear();
    while (chosen.size() < ranks && total_ >= ranks - chosen.size()) {
      const auto left = static_cast<std::uint32_t>(ranks - chosen.size());
      const std::uint32_t node = best(left);
      if (all_can(node, left, can)) take(node, left, chosen);
    }
    if (chosen.size() == ranks) return true;
    for (const std::uint32_t rank : chosen) add(rank);
    return false;
  }

 private:
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

  base::list<std::uint32_t> order_;  // the ranks, by node
  base::list<node_of_ranks> nodes_;
  base::list<rank_place> ranks_;
  base::list<std::uint64_t> with_count_;  // for each count a bit for each node
  base::list<std::uint32_t> number_;      // for each count but 0 the number of nodes
  std::size_t words_ = 0;
  std::size_t total_ = 0;
};

}  // namespace manta::graph
