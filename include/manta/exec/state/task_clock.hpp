// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Points in time at which something is to happen to tasks of this rank: their
// deadlines, and the beginnings of further attempts.
//
// This part keeps the times in order. A timer that is stopped is only counted;
// the caller knows which entries are of running timers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"

namespace manta::exec {

class task_clock {
 public:
  struct timer {
    std::int64_t ns;   ///< time at which the timer is due
    std::uint64_t id;  ///< id of the task
    node_index index;  ///< index of its node
    std::uint32_t attempt;
    std::int64_t limit = 0;  ///< limit of a call: the deadline, in nanoseconds from the call
  };

  /// The number of timers that run.
  std::size_t running() const { return running_; }
  void start(const timer& t) {
    ++running_;
    timers_.push_back(t);
    std::push_heap(timers_.begin(), timers_.end(), later{});
  }
  /// A timer is stopped. When most entries are out of date, removes those for which is_running(timer) is false.
  template <class IsRunning>
  void stop(IsRunning&& is_running) {
    note_over();
    if (running_ == 0) return timers_.clear();
    if (timers_.size() < 2 * running_ + 64) return;
    std::size_t kept = 0;
    for (const timer& t : timers_) {
      if (is_running(t)) timers_[kept++] = t;
    }
    timers_.resize(kept, timer{});
    std::make_heap(timers_.begin(), timers_.end(), later{});
  }
  /// Takes out the earliest entry if it is due. False if there is none. If its timer runs, `note_over` is due.
  bool take_due(std::int64_t now_ns, timer& due) {
    if (timers_.empty() || timers_[0].ns > now_ns) return false;
    due = timers_[0];
    std::pop_heap(timers_.begin(), timers_.end(), later{});
    timers_.pop_back();
    return true;
  }
  /// A timer has been taken out that was running.
  void note_over() { --running_; }
  /// The entries for which is_running(timer) holds, in no order.
  template <class IsRunning>
  base::list<timer> all(IsRunning&& is_running) const {
    base::list<timer> found;
    for (const timer& t : timers_) {
      if (is_running(t)) found.push_back(t);
    }
    return found;
  }

 private:
  struct later {
    bool operator()(const timer& a, const timer& b) const { return a.ns > b.ns; }
  };

  base::list<timer> timers_;  // a heap, the earliest first
  std::size_t running_ = 0;   // entries that are not out of date
};

}  // namespace manta::exec
