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

/// Waits for a call. Asks `is_wanted` now and then, and cancels the call when nobody wants it any more: false. After
/// ten minutes it asks no more, so that a deadlock is found.
template <class T, class Wanted>
bool wait_while_wanted(const future<T>& call, Wanted&& is_wanted) {
  using std::chrono::milliseconds;
  constexpr milliseconds longest = std::chrono::minutes(10);
  milliseconds pause(50);
  for (milliseconds waited(0); waited < longest; waited += pause) {
    if (waited > std::chrono::seconds(2)) pause = milliseconds(500);
    if (call.wait_for(pause)) return true;
    if (!is_wanted() && cancel(call)) return false;
  }
  call.wait();
  return true;
}

}  // namespace manta::serve::detail
