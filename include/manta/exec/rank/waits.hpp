// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One stack that waits for nodes to end: how many, which have, until when.
#pragma once

#include <cstdint>

#include "manta/exec/rank/invocation.hpp"

namespace manta::exec {

class context;

struct wait_record {
  static constexpr std::int64_t never = INT64_MAX;

  std::uint32_t remaining = 0;  ///< ends still to come before the wait is over
  std::int64_t deadline = never;
  base::list<std::uint32_t> ended;     ///< positions of the nodes that ended, in that order
  base::list<std::uint32_t> lost;      ///< those among them that are calls and ended with their actors
  base::list<std::uint32_t> gone;      ///< those among these whose actors do not return
  context* parked = nullptr;           ///< the stack that was left, if it was
  int descriptor = -1;                 ///< the wait is over, too, when this one is readable; -1: there is none
  bool looks_for_stops = false;        ///< and when a task of this rank has been asked to stop
  bool interrupted = false;            ///< one of these has happened
  bool failed = false;                 ///< nothing can ever end: throw deadlock
  bool queued = false;                 ///< stands in the list of stacks to continue
  const running_task* task = nullptr;  ///< the task that waits, for reports
  std::uint64_t begin_ticks = 0;       ///< since when, for reports
  const void* frame = nullptr;         ///< the engine's frame in which the stack waits, for reports
  const graph::node* first = nullptr;  ///< the node for which the task waits
  const char* what = nullptr;          ///< name of what is waited for, for reports; null: that of the node

  void note_end(std::uint32_t position, const graph::node& n) {
    ended.push_back(position);
    if (n.state != graph::state::failed || !store::failure_of(n)->tells_of_lost_call()) return;
    lost.push_back(position);
    if (!store::failure_of(n)->actor_may_return) gone.push_back(position);
  }
  bool over() const { return remaining == 0 || interrupted || failed; }
};

/// The waits of a rank, in the order in which they began.
class wait_list {
 public:
  bool empty() const { return waits_.empty(); }
  /// The number of waits with a time limit.
  std::size_t timed() const { return timed_; }
  /// The number of waits that a descriptor can end.
  std::size_t with_descriptor() const { return with_descriptor_; }
  /// The number of waits that the stop of a task ends.
  std::size_t looking_for_stops() const { return looking_for_stops_; }
  wait_record* const* begin() const { return waits_.begin(); }
  wait_record* const* end() const { return waits_.end(); }

  /// A wait begins. Its time limit, its descriptor and whether it looks for stops stay as they are until `remove`.
  void add(wait_record& record) {
    waits_.push_back(&record);
    timed_ += record.deadline != wait_record::never;
    with_descriptor_ += record.descriptor >= 0;
    looking_for_stops_ += record.looks_for_stops;
  }
  void remove(wait_record& record) {
    waits_.remove(&record);
    timed_ -= record.deadline != wait_record::never;
    with_descriptor_ -= record.descriptor >= 0;
    looking_for_stops_ -= record.looks_for_stops;
  }

 private:
  base::list<wait_record*> waits_;
  std::size_t timed_ = 0, with_descriptor_ = 0, looking_for_stops_ = 0;
};

}  // namespace manta::exec
