// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The requester's side of fetches: the values on their way here for which room
// is made, and those that will be asked for when less is expected.
#pragma once

#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

class incoming_room {
 public:
  /// Room is made for the value of `n`.
  void reserve(const graph::node& n, std::uint64_t bytes) { reserved_.insert(n.index) = bytes; }
  /// The value has come, or will not. Returns the bytes for which room was made, 0 if for none; then the value may have
  /// been one of those that wait, and it is no more.
  std::uint64_t release(graph::node& n) {
    const std::uint64_t* const at = reserved_.find(n.index);
    if (at == nullptr) {
      waiting_.remove(&n);
      return 0;
    }
    const std::uint64_t bytes = *at;
    reserved_.erase(n.index);
    return bytes;
  }
  /// The value is asked for later.
  void wait(graph::node& n) { waiting_.push_back(&n); }
  bool has_waiting() const { return !waiting_.empty(); }
  /// Takes out the value that has waited longest.
  graph::node& take_waiting() {
    graph::node* const first = waiting_[0];
    waiting_.remove(first);
    return *first;
  }
  /// Takes out a value that waits. False if it does not wait.
  bool take_waiting(graph::node& n) { return waiting_.remove(&n); }

 private:
  base::index_table reserved_;  // node -> bytes
  base::list<graph::node*> waiting_;
};

}  // namespace manta::exec
