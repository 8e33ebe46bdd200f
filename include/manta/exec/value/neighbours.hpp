// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks of this node whose memory this rank maps, and the values whose pages
// this rank has shown to others until they have mapped them.
//
// This part asks the system for the memory of other processes; it sends nothing.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/base/file.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/rank/rank_set.hpp"
#include "manta/graph/node.hpp"
#include "manta/store/node_file.hpp"

namespace manta::exec {

class neighbours {
 public:
  explicit neighbours(std::uint32_t size) : size_(size), unmappable_(size) {}

  /// Can the memory of this rank be mapped, as far as is known?
  bool may_map(rank_id neighbour) const { return !unmappable_.has(neighbour); }
  void note_unmappable(rank_id neighbour) { unmappable_.insert(neighbour); }
  /// Maps the memory that a rank has shown. Null if the ranks do not see each other's processes.
  store::node_file* map(rank_id from, const pages_message& where) {
    if (processes_.size() == 0) processes_ = base::array<process>(size_);
    process& theirs = processes_[from];
    if (!theirs.handle.is_open()) theirs.handle = base::file::handle_of(where.process);
    base::file memory = base::file::of_process(where.process, where.descriptor, theirs.handle.get(), O_RDWR);
    if (!memory.is_open() || (!theirs.is_sender && memory.identity() != where.identity)) return nullptr;
    theirs.is_sender = theirs.handle.is_open();
    return store::node_file::of_rank(where.maker, std::move(memory), where.identity, where.room);
  }

  /// The pages of the value of `n` were shown to a rank.
  void note_shown(rank_id to, const graph::node& n) { shown_.push_back({to, n.index}); }
  /// Takes out one value that was shown to a rank: the value with this node, or any if it is no_index. Returns the
  /// node; no_index if there is none.
  node_index take_shown(rank_id to, node_index of_node = graph::no_index) {
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const shown_pages found = shown_[i];
      if (found.to != to || (of_node != graph::no_index && found.node != of_node)) continue;
      shown_.remove_unordered(i);
      return found.node;
    }
    return graph::no_index;
  }

 private:
  struct process {
    base::file handle;
    bool is_sender = false;  // its number means the same process to both ranks
  };
  struct shown_pages {
    rank_id to;
    node_index node;
  };

  std::uint32_t size_;
  rank_set unmappable_;
  base::array<process> processes_;  // by rank; empty until memory is mapped
  base::list<shown_pages> shown_;
};

}  // namespace manta::exec
