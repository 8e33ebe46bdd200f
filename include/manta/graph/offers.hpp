// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What each rank of the world offers. Every rank knows this of all ranks, and the ranks of a node mostly offer the
// same: what is the same is kept once, so that a rank costs the others three bytes each.
#pragma once

#include <cstdint>
#include <vector>

#include "manta/base/containers.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

class offers {
 public:
  /// All ranks offer what a default `capacity` has.
  explicit offers(std::size_t ranks) : low_(ranks), high_(ranks), kinds_(1) { last_of(0) = 0; }
  offers(const base::array<capacity>& all) : offers(all.size()) {
    for (std::size_t r = 0; r < all.size(); ++r) set(r, all[r]);
  }

  std::size_t size() const { return low_.size(); }
  /// The reference is valid until the next set().
  const capacity& operator[](std::size_t rank) const {
    return kinds_[low_[rank] | std::uint32_t{high_[rank]} << 16].what;
  }
  void set(std::size_t rank, const capacity& its) {
    if (!(kinds_[set_last_].what == its)) set_last_ = kind(its);
    low_[rank] = static_cast<std::uint16_t>(set_last_);
    if (high_[rank] != set_last_ >> 16) high_[rank] = static_cast<std::uint8_t>(set_last_ >> 16);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct kind_of_rank {
    capacity what;
    std::uint32_t before = none;  // of the same node
  };

  std::uint32_t& last_of(int node) {
    const auto at = static_cast<std::size_t>(node + 1);  // -1: the rank has died
    if (at >= last_of_node_.size()) last_of_node_.resize(at + 1, none);
    return last_of_node_[at];
  }
  /// The place of what is equal to this, which is added if there is none.
  std::uint32_t kind(const capacity& its) {
    std::uint32_t at = last_of(its.node);
    while (at != none && !(kinds_[at].what == its)) at = kinds_[at].before;
    return at != none ? at : add(its);
  }
  std::uint32_t add(const capacity& its) {
    const capacity copy = its;  // it may be one of ours
    const auto made = static_cast<std::uint32_t>(kinds_.size());
    kinds_.push_back({copy, last_of(copy.node)});
    last_of(copy.node) = made;
    return made;
  }

  base::array<std::uint16_t> low_;  // by rank: the place in kinds_
  base::array<std::uint8_t> high_;  // its upper bits
  std::vector<kind_of_rank> kinds_;
  base::list<std::uint32_t> last_of_node_;  // from node -1 on: the kind that was added last
  std::uint32_t set_last_ = 0;
};

}  // namespace manta::graph
