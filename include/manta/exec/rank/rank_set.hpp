// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A set of ranks, with its size. It takes memory from the first rank on.
#pragma once

#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"

namespace manta::exec {

class rank_set {
 public:
  explicit rank_set(std::uint32_t ranks) : ranks_(ranks) {}

  bool has(rank_id member) const { return !is_in_.empty() && is_in_[member]; }
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  void set(rank_id member, bool is_in) {
    if (has(member) == is_in) return;
    if (is_in_.empty()) is_in_.resize(ranks_, false);
    is_in_[member] = is_in;
    is_in ? ++size_ : --size_;
  }
  void insert(rank_id member) { set(member, true); }
  void erase(rank_id member) { set(member, false); }
  void clear() {
    is_in_.clear();
    size_ = 0;
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t size_ = 0;
  base::list<bool> is_in_;  // by rank; empty as long as no rank was in
};

}  // namespace manta::exec
