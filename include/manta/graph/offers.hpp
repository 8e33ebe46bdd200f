// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What each rank of the world offers. Every rank knows this of all ranks, and the ranks of a node mostly offer the same:
// what is the same is kept once, so that a rank costs the others four bytes each.
#pragma once

#include <cstdint>
#include <vector>

#include "manta/base/containers.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

class offers {
 public:
  /// All ranks offer what a default `capacity` has.
  explicit offers(std::size_t ranks) : kind_of_(ranks), kinds_(1) { last_of_node_.insert(key(0), 0); }
  offers(const base::array<capacity>& all) : offers(all.size()) {
    for (std::size_t r = 0; r < all.size(); ++r) set(r, all[r]);
  }

  std::size_t size() const { return kind_of_.size(); }
  /// The reference is valid until the next set().
  const capacity& operator[](std::size_t rank) const { return kinds_[kind_of_[rank]].what; }
  void set(std::size_t rank, const capacity& its) {
    const std::uint64_t* const last = last_of_node_.find(key(its.node));
    std::uint32_t at = last == nullptr ? none : static_cast<std::uint32_t>(*last);
    while (at != none && !(kinds_[at].what == its)) at = kinds_[at].before;
    kind_of_[rank] = at != none ? at : add(its);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct kind {
    capacity what;
    std::uint32_t before = none;  // of the same node
  };

  static std::uint64_t key(int node) { return static_cast<std::uint32_t>(node); }
  std::uint32_t add(const capacity& its) {
    const capacity copy = its;  // it may be one of ours
    const auto made = static_cast<std::uint32_t>(kinds_.size());
    std::uint64_t& last = last_of_node_.insert(key(copy.node), none);
    kinds_.push_back({copy, static_cast<std::uint32_t>(last)});
    last = made;
    return made;
  }

  base::array<std::uint32_t> kind_of_;  // by rank
  std::vector<kind> kinds_;
  base::index_table last_of_node_;  // the kind that was found last on a node
};

}  // namespace manta::graph
