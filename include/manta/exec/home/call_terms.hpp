// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the caller asks of one call of an actor, and the copies of calls that may be made again.
#pragma once

#include <cstdint>

#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/request.hpp"
#include "manta/graph/task.hpp"

namespace manta::exec {

/// What the caller asks of one call.
struct call_terms {
  std::int64_t deadline = graph::request::never;  ///< nanoseconds from the call within which it must start
  int retries = 0;                                ///< times that it is made again when it was lost with its actor
};

/// A call that may be made again. It has one handle of the actor, and one of each input.
struct repeatable_call {
  graph::task* copy;
  graph::node* actor;
  int retries;  ///< that are left
};

/// The calls of this rank that have not ended and may be made again, by their nodes.
class repeatable_calls {
 public:
  repeatable_calls() = default;
  repeatable_calls(const repeatable_calls&) = delete;
  repeatable_calls& operator=(const repeatable_calls&) = delete;
  ~repeatable_calls() {
    calls_.for_each([](repeatable_call& c) { delete &c; });  // the tasks belong to their graph
  }

  bool empty() const { return calls_.size() == 0; }
  void add(node_index call, const repeatable_call& c) { calls_.set(call, new repeatable_call(c)); }
  /// The call of this node; null if it may not be made again.
  repeatable_call* find(node_index call) const { return calls_.find(call); }
  void remove(node_index call) {
    delete calls_.find(call);
    calls_.erase(call);
  }

 private:
  base::pointer_table<repeatable_call> calls_;
};

}  // namespace manta::exec
