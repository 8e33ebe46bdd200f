// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the calls of a router wait for each other: one by its own bell, or any number for the next change. A router needs
// neither a thread nor a loop, for each call waits on a stack of its own.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/promise.hpp"
#include "manta/serve/call_turns.hpp"
#include "manta/serve/source.hpp"
#include "manta/this_task.hpp"
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

/// The time that a call may take.
struct call_limit {
  std::chrono::milliseconds longest{0};  ///< 0: as long as it takes
  call_turns::turn* turn = nullptr;      ///< the time begins with it; null: with the wait
};

/// Waits for a call within its limit. `is_wanted` reads stop tokens of this rank, and says whether anybody wants the
/// answer. It is asked after 50 ms, because a watcher costs more than most calls take, and
/// then whenever a token has changed: without a time limit, so that a circle of calls is found to be a deadlock.
/// `given_up`, if it names something, becomes true when the call counts as overdue whatever the time.
MANTA_DECL call_end wait_for_call(const any_future& call, const call_limit& limit,
                                  const std::function<bool()>& is_wanted, const future<bool>& given_up = {});

/// Throws if the request of a stream has ended because a call ran too long: values that have not come do not come any
/// more. The generator's own error does not count, since it follows the values before it.
MANTA_DECL void throw_if_overdue(const future<void>& request);

/// Waits for values of a stream, as long as its request is not overdue.
MANTA_DECL void wait_for_values(const any_future& values, const future<void>& request);

/// Cancels a call; false if it has ended.
MANTA_DECL bool cancel_call(const any_future& call);

/// Waits for a call until it ends: true; or until its caller is to stop, and cancels the call then: false.
MANTA_DECL bool wait_while_wanted(const any_future& call, const this_task::stop_token& caller);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/waiting_calls.ipp"
#endif
