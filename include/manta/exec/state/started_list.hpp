// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The tasks that have started on this rank and have not ended, and whether one
// more may start: each waits on a stack of its own for one that began after it.
// And the parts of cancelled gangs that are to stop as soon as they start: a
// gang of which a part may have started starts on all its ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/invocation.hpp"

namespace manta::exec {

class started_list {
 public:
  /// No more tasks than `most` may have started at a time.
  void set_limit(std::size_t most) {
    most_ = may_start_ = most;
    early_stops_.clear();
  }
  /// May a task start? If not, none may until most have ended: what recurses in several branches must not begin the
  /// next one while the first comes back.
  bool may_start() {
    if (count_ < may_start_) [[likely]]
      return true;
    may_start_ = most_ / 8;
    return false;
  }
  /// The part with this id, of a gang or of a call of its actor, is on this rank and has not started.
  void stop_at_start(std::uint64_t id, bool with_children) { early_stops_.insert(id) |= with_children ? 2u : 1u; }
  /// This part starts. True if it has been told to stop already.
  bool take_stop_at_start(running_task& part) {
    const std::uint64_t* const told = early_stops_.find(part.id);
    if (told == nullptr) return false;
    part.stop = true;
    part.stops_children = (*told & 2u) != 0;
    early_stops_.erase(part.id);
    return true;
  }
  std::size_t count() const { return count_; }
  /// The task that started last; `next` leads to the others.
  running_task* first() const { return first_; }

  void add(running_task& t) {
    ++count_;
    t.next = first_;
    t.previous = nullptr;
    if (first_ != nullptr) first_->previous = &t;
    first_ = &t;
  }
  void remove(running_task& t) {
    if (--count_ < may_start_) may_start_ = most_;
    (t.previous == nullptr ? first_ : t.previous->next) = t.next;
    if (t.next != nullptr) t.next->previous = t.previous;
  }

 private:
  running_task* first_ = nullptr;
  std::size_t count_ = 0;
  base::index_table early_stops_;         // id of a part -> 1, or 2 where what it submits is to be cancelled too
  std::size_t most_ = 0, may_start_ = 0;  // how many may have started: by the settings, and now
};

}  // namespace manta::exec
