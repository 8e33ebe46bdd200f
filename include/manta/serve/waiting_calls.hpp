// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the calls of a router wait for each other: one by its own bell, or any number for the next change. A router needs
// neither a thread nor a loop, for each call waits on a stack of its own.
#pragma once

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "manta/cancel.hpp"
#include "manta/promise.hpp"
#include "manta/serve/source.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// Wakes one call.
class bell {
 public:
  /// Ends when the bell rings.
  future<void> set_up() {
    promise_.emplace();
    has_rung_ = false;
    return promise_->get_future();
  }
  /// Rings once, if it has been set up; does not wait.
  void ring() {
    if (promise_ && !std::exchange(has_rung_, true)) promise_->set_value();
  }
  void put_away() {
    ring();  // a promise that never gets a value counts as broken
    promise_.reset();
  }

 private:
  std::optional<promise<void>> promise_;
  bool has_rung_ = false;
};

/// Wakes all calls that wait until something has changed.
class changes {
 public:
  void wait() {
    waiting_.emplace_back();
    const future<void> next = waiting_.back().get_future();
    next.wait();
  }
  void notify() {
    for (promise<void>& p : std::exchange(waiting_, {})) p.set_value();
  }

 private:
  std::vector<promise<void>> waiting_;
};

/// Waits for a call. Cancels it when `is_wanted`, which reads stop tokens of this rank, says that nobody wants it any
/// more: false. It looks after 50 ms, because a watcher costs more than most calls take, and then whenever a token has
/// changed: without a time limit, so that a circle of calls is found to be a deadlock.
template <class T, class Wanted>
bool wait_while_wanted(const future<T>& call, Wanted&& is_wanted) {
  if (call.wait_for(std::chrono::milliseconds(50))) return true;
  watcher events;
  events.watch_stops();
  events.add(call, 0);
  do {
    if (!is_wanted() && cancel(call)) return false;
  } while (!events.next());
  return true;
}

}  // namespace manta::serve::detail
