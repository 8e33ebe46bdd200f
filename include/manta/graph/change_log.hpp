// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ranks on which something has become possible, in the order of these changes. Each queue of the scheduler reads on
// from its own position, so no decision looks at all ranks.
#pragma once

#include "manta/base/containers.hpp"

namespace manta::graph {

class change_log {
 public:
  /// The position of a reader. A new reader has read nothing and starts with all ranks.
  struct position {
    std::uint64_t entries = 0;
    std::uint64_t everywhere = 0;
  };

  explicit change_log(std::size_t ranks) : ranks_(ranks), last_(ranks) {}

  void note(std::uint32_t rank) {
    if (last_[rank] > read_) return;  // no reader has read the rank's last entry yet
    ranks_[written_ % ranks_.size()] = rank;
    last_[rank] = ++written_;
  }
  /// Notes a change on all ranks.
  void note_everywhere() { ++everywhere_; }
  /// Forgets the entries of a rank that has died.
  void forget(std::uint32_t rank) { last_[rank] = 0; }

  bool has_read_all(const position& p) const { return p.entries == written_ && p.everywhere == everywhere_; }
  /// Whether a reader at `p` must look at all ranks, because the log no longer holds everything behind `p`.
  bool must_look_everywhere(const position& p) const {
    return p.everywhere != everywhere_ || written_ - p.entries > ranks_.size();
  }
  /// Calls visit(rank) for each entry after `p`.
  template <class Visit>
  void each_since(const position& p, Visit&& visit) const {
    for (std::uint64_t i = p.entries; i != written_; ++i) visit(ranks_[i % ranks_.size()]);
  }
  void move_to_end(position& p) {
    p.entries = read_ = written_;
    p.everywhere = everywhere_;
  }

  /// A number that grows with every change that may make a rank busy or idle.
  std::uint64_t loads() const { return loads_; }
  void note_load() { ++loads_; }

  /// A number that changes whenever a gang that found no place might find one.
  std::uint64_t state_for_gangs() const { return state_for_gangs_; }
  void changed_for_gangs() { ++state_for_gangs_; }

 private:
  base::array<std::uint32_t> ranks_;  // the last entries, as a ring
  base::array<std::uint64_t> last_;   // for each rank, the number of its last entry; 0: none
  std::uint64_t written_ = 0;         // number of entries
  std::uint64_t read_ = 0;            // number of entries that some queue has read
  std::uint64_t everywhere_ = 1;      // number of changes on all ranks
  std::uint64_t state_for_gangs_ = 1;
  std::uint64_t loads_ = 1;
};

}  // namespace manta::graph
