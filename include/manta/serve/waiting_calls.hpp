// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the calls of a router wait for each other: one by its own bell, or any number for the next change. A router needs
// neither a thread nor a loop, for each call waits on a stack of its own.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "manta/cancel.hpp"
#include "manta/error.hpp"
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
  /// At most until then; false if that has come.
  bool wait_until(std::chrono::steady_clock::time_point end) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    waiting_.emplace_back();
    const future<void> next = waiting_.back().get_future();
    next.wait_for(left);
    return true;
  }
  void notify() {
    for (promise<void>& p : std::exchange(waiting_, {})) p.set_value();
  }

 private:
  std::vector<promise<void>> waiting_;
};

/// How a wait for a call has ended.
enum class call_end { answered, unwanted, overdue };

/// Waits for a call, at most that long; 0: as long as it takes. `is_wanted` reads stop tokens of this rank, and says
/// whether anybody wants the answer. It is asked after 50 ms, because a watcher costs more than most calls take, and
/// then whenever a token has changed: without a time limit, so that a circle of calls is found to be a deadlock.
/// `given_up`, if it names something, becomes true when the call counts as overdue whatever the time.
template <class T, class Wanted>
call_end wait_for_call(const future<T>& call, std::chrono::milliseconds longest, Wanted&& is_wanted,
                       const future<bool>& given_up = {}) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds short_call{50};
  const bool is_limited = longest.count() > 0;
  const clock::time_point begin = clock::now();
  if (call.wait_for(is_limited ? std::min(longest, short_call) : short_call)) return call_end::answered;
  watcher events;
  events.watch_stops();
  events.add(call, 0);
  if (given_up.valid()) events.add(given_up, 1);
  for (;;) {
    if (!is_wanted()) return call_end::unwanted;
    const auto left = begin + longest - clock::now();
    if (is_limited && left.count() <= 0) return call.ready() ? call_end::answered : call_end::overdue;
    const auto ended = is_limited ? events.next(left) : events.next();
    if (ended == 0) return call_end::answered;
    if (ended == 1 && given_up.get()) return call_end::overdue;
  }
}

/// Waits for a call as long as `is_wanted`; cancels it then: false.
template <class T, class Wanted>
bool wait_while_wanted(const future<T>& call, Wanted&& is_wanted) {
  while (wait_for_call(call, {}, is_wanted) == call_end::unwanted) {
    if (cancel(call)) return false;
  }
  return true;
}

}  // namespace manta::serve::detail
