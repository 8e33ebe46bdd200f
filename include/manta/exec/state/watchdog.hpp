// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Two watches over a rank's own thread, by which the helper finds that a task
// hangs. They are told the time and whether the thread has entered the library
// since the last look; what follows is for the caller to do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace manta::exec {

/// Finds a task that has had the thread for too long without a call of the library. The driver may take its time. While
/// the whole process was stopped, no time counts.
class watchdog {
 public:
  static constexpr std::int64_t most_between_looks_ns = 100'000'000;

  /// 0: no task hangs.
  void set_limit(std::int64_t ns) { limit_ns_ = ns; }
  std::int64_t limit_ns() const { return limit_ns_; }
  bool is_on() const { return limit_ns_ != 0; }
  /// True once: a task has had the thread for longer than the limit.
  bool look(std::int64_t now_ns, bool was_here, bool is_in_task) {
    if (!is_on()) return false;
    away_ns_ = was_here ? 0 : away_ns_ + std::min(now_ns - last_look_ns_, most_between_looks_ns);
    last_look_ns_ = now_ns;
    if (away_ns_ <= limit_ns_ || !is_in_task) return false;
    limit_ns_ = 0;
    return true;
  }

 private:
  std::int64_t limit_ns_ = 0;
  std::int64_t away_ns_ = 0;  // how long the thread has not been here, as far as it counts
  std::int64_t last_look_ns_ = 0;
};

/// Finds a thread that may stand in a lock which one of the waiting tasks holds: it has not entered the library for
/// five seconds, and the process has hardly computed since.
class lock_watch {
 public:
  static constexpr std::int64_t patience_ns = 5'000'000'000;

  /// True once until the thread comes back. `others_wait`: is a task running while others wait? `computed_ns()` returns
  /// how long the process has computed since its start.
  template <class Computed>
  bool look(std::int64_t now_ns, bool was_here, bool others_wait, Computed&& computed_ns) {
    if (was_here || since_ns_ == 0) {
      since_ns_ = now_ns;
      computed_ns_ = computed_ns();
    }
    if (now_ns - since_ns_ < patience_ns || !others_wait) return false;
    const bool is_idle = computed_ns() - computed_ns_ < (now_ns - since_ns_) / 10;
    since_ns_ = is_idle ? std::numeric_limits<std::int64_t>::max() : 0;
    return is_idle;
  }

 private:
  std::int64_t since_ns_ = 0;     // when the thread was last seen; the largest number: it has been reported
  std::int64_t computed_ns_ = 0;  // by the process, until then
};

}  // namespace manta::exec
