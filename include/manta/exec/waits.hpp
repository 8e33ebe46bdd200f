// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One stack that waits for nodes to end: how many, which have, until when.
#pragma once

#include <cstdint>

#include "manta/exec/invocation.hpp"

namespace manta::exec {

class context;

struct wait_record {
  static constexpr std::int64_t never = INT64_MAX;

  std::uint32_t remaining = 0;            ///< ends still to come before the wait is over
  std::int64_t deadline = never;
  base::list<std::uint32_t> ended;        ///< positions of the nodes that ended, in that order
  base::list<std::uint32_t> lost;         ///< those among them that are calls and ended with their actors
  base::list<std::uint32_t> gone;         ///< those among these whose actors do not return
  context* parked = nullptr;              ///< the stack that was left, if it was
  int descriptor = -1;                    ///< the wait is over, too, when this one is readable; -1: there is none
  bool readable = false;                  ///< it is
  bool failed = false;                    ///< nothing can ever end: throw deadlock
  bool queued = false;                    ///< stands in the list of stacks to continue
  const running_task* task = nullptr;     ///< who waits, for reports
  const graph::node* first = nullptr;     ///< for what

  void note_end(std::uint32_t position, const graph::node& n) {
    ended.push_back(position);
    if (n.state != graph::state::failed || !store::failure_of(n)->tells_of_lost_call()) return;
    lost.push_back(position);
    if (!store::failure_of(n)->actor_may_return) gone.push_back(position);
  }
  bool over() const { return remaining == 0 || readable || failed; }
};

}  // namespace manta::exec
