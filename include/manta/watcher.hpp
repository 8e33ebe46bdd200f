// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A watcher waits for several futures, which may be added at any time, for a file descriptor, and for tasks that
// are asked to stop, all at once: what an event loop inside a task or a driver needs. While it waits, its rank
// runs other tasks.
//
//   manta::watcher events;
//   events.watch_descriptor(socket);
//   events.add(manta::async<f>(x), 7);
//   while (auto id = events.next(100ms)) use(*id);   // 7 when f has ended
//   // Here the socket is readable, or 100 ms have passed.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "manta/future.hpp"

namespace manta {

/// Waits for the first of several events: the end of an added future, data at a file descriptor, or that a task of this
/// rank is asked to stop. It stays on the rank that made it, and only the thread that runs tasks may use it. Neither
/// copyable nor movable.
class watcher {
 public:
  watcher() = default;
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  ~watcher() {
    exec::engine* const e = exec::engine::current();
    if (e == nullptr) return;
    const exec::engine::guard g(*e);
    for (const entry& each : entries_) {
      auto* const n = detail::access::of(each.what).get();
      if (n != nullptr && n->is_pending()) e->waits().unwatch(*n, record_);
    }
    if (record_.descriptor >= 0) e->waiters().forget_descriptor(record_.descriptor);
  }

  /// Adds a future: next() returns `id` once, when the future has ended, with a value or an error. Keeps a handle until
  /// then. Does not wait.
  MANTA_DECL void add(const any_future& what, std::uint64_t id);
  /// Makes next() return also when this descriptor is readable, which must stay open as long as the watcher uses it;
  /// -1: no descriptor any more. It may be the descriptor of an event loop (epoll).
  void watch_descriptor(int descriptor) {
    if (exec::engine* const e = exec::engine::current(); e != nullptr && record_.descriptor >= 0) {
      const exec::engine::guard g(*e);
      e->waiters().forget_descriptor(record_.descriptor);
    }
    record_.descriptor = descriptor;
  }
  /// Makes next() return also when any task or call that runs on this rank has been asked to stop since this call, or
  /// since next() has returned last, and when the run has to end: time to look at a this_task::stop_token, or at
  /// this_task::stop_requested. So such a look needs no time limit, which
  /// would keep a deadlock from being found. Does not wait.
  MANTA_DECL void watch_stops();
  /// Waits at most that long for the next future that ends, and returns its id; nothing if the descriptor is readable,
  /// a task has been asked to stop (watch_stops) or the time is up. Runs other tasks of this rank meanwhile. Without a
  /// descriptor and without a time limit it throws `deadlock` when none of the futures can ever end.
  template <class Rep = std::int64_t, class Period = std::nano>
  std::optional<std::uint64_t> next(std::chrono::duration<Rep, Period> limit = std::chrono::nanoseconds::max()) {
    return next_until(detail::deadline_after(limit));
  }
  /// Whether next() has an id to give without waiting.
  bool ready() const { return taken_ < record_.ended.size(); }
  /// Number of futures whose ids next() has not returned yet.
  std::size_t size() const { return size_; }

 private:
  struct entry {
    any_future what;
    std::uint64_t id = 0;
  };
  MANTA_DECL std::optional<std::uint64_t> next_until(std::int64_t deadline);
  MANTA_DECL std::optional<std::uint64_t> take();

  std::vector<entry> entries_;
  std::vector<std::uint32_t> free_;
  exec::wait_record record_;
  std::size_t taken_ = 0;  // number of entries of record_.ended that next() has returned
  std::size_t size_ = 0;
  std::uint64_t seen_stops_ = 0;  // that next() has returned for, or that came before watch_stops
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/watcher.ipp"
#endif
