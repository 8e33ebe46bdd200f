// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A watcher waits at once for futures that are added as it goes, and for a file descriptor: what an event loop inside a
// task or a driver needs. While it waits, its rank runs other tasks.
//
//   manta::watcher events;
//   events.watch_descriptor(socket);
//   events.add(manta::async<f>(x), 7);
//   while (auto id = events.next(100ms)) use(*id);         // 7, when f has ended; nothing: the socket is readable, or
//   the time is up
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "manta/future.hpp"

namespace manta {

/// Waits for whatever comes first: the end of a future that was added, or a file descriptor. Stays on the rank that
/// made it; only the thread that runs tasks may use it. Neither copyable nor movable.
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
      graph::node* const n = detail::access::of(each.what).get();
      if (n != nullptr && n->state == graph::state::pending) e->unwatch(*n, record_);
    }
    if (record_.descriptor >= 0) e->forget_descriptor(record_.descriptor);
  }

  /// `next` gives `id` once, when the future has ended, well or badly. Keeps a handle until then. Does not wait.
  MANTA_DECL void add(const any_future& what, std::uint64_t id);
  /// `next` returns when this descriptor is readable, for as long as the watcher lives; -1: none any more. The
  /// descriptor of an event loop (epoll) will do. It has to stay open.
  void watch_descriptor(int descriptor) {
    if (exec::engine* const e = exec::engine::current(); e != nullptr && record_.descriptor >= 0) {
      const exec::engine::guard g(*e);
      e->forget_descriptor(record_.descriptor);
    }
    record_.descriptor = descriptor;
  }
  /// The id of a future that has ended, in the order in which they end. Waits for one, and at most that long; nothing
  /// if the descriptor is readable or the time is up. Runs other tasks of this rank meanwhile. Without a descriptor and
  /// a time limit it throws `deadlock` when nothing that it waits for can ever end.
  template <class Rep = std::int64_t, class Period = std::nano>
  std::optional<std::uint64_t> next(std::chrono::duration<Rep, Period> limit = std::chrono::nanoseconds::max()) {
    return next_until(detail::deadline_after(limit));
  }
  /// Whether next() has an id to give without waiting.
  bool ready() const { return taken_ < record_.ended.size(); }
  /// How many futures have not been given back yet.
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
  std::size_t taken_ = 0;  // of record_.ended
  std::size_t size_ = 0;
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/watcher.ipp"
#endif
