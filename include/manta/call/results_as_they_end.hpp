// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Futures of calls in the order in which they end, and which calls were lost with their actors. actor_pool uses both.
#pragma once

#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/wait.hpp"

namespace manta::detail {

/// Notes the ends of calls made on this rank, without holding their results. It must not move while calls
/// are under way.
class end_watcher {
 public:
  end_watcher() = default;
  end_watcher(const end_watcher&) = delete;
  end_watcher& operator=(const end_watcher&) = delete;
  ~end_watcher() {
    if (!exec::engine::inside()) return;
    exec::engine& e = *exec::engine::current();
    const exec::engine::guard g(e);
    take_ended([](std::uint32_t, bool, bool) {});
    for (const entry& each : entries_) {
      if (each.node != nullptr) e.waits().unwatch(*each.node, record_);
    }
  }

  std::size_t under_way() const { return under_way_; }

  /// Adds a call; take() returns `mark` when its future has ended.
  template <class R>
  void add(const future<R>& f, std::uint32_t mark) {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    auto& n = access::of(f).node("actor_pool");
    std::uint32_t at = 0;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({nullptr, 0});
    } else {
      at = free_.back();
      free_.pop_back();
    }
    entries_[at] = {&n, mark};
    ++under_way_;
    if (n.is_pending()) {
      e.waits().watch(n, record_, at);
    } else {
      record_.note_end(at, n);
    }
  }

  /// Calls tell(mark, lost, gone) for each call that has ended since the last take, in the order of their ends. `lost`
  /// means that the actor died; `gone` means that it does not restart. With `wait`, waits if no call has ended.
  template <class Tell>
  void take(bool wait, Tell&& tell) {
    exec::engine& e = exec::engine::here("actor_pool");
    const exec::engine::guard g(e);
    if (wait && record_.ended.empty() && under_way_ != 0) {
      record_.remaining = 1;
      record_.failed = false;
      for (const entry& each : entries_) {
        if (each.node != nullptr) record_.first = each.node;
      }
      e.waits().wait(record_);
      e.waiters().throw_if_deadlocked(record_);
    }
    take_ended(tell);
  }

 private:
  /// A pending call's node lives at least until it has ended: the engine holds it.
  struct entry {
    graph::node* node;
    std::uint32_t mark;
  };
  template <class Tell>
  void take_ended(Tell&& tell) {
    base::list<std::uint32_t> ended, lost, gone;
    ended.swap(record_.ended);
    lost.swap(record_.lost);
    gone.swap(record_.gone);
    for (const std::uint32_t at : ended) {
      const std::uint32_t mark = entries_[at].mark;
      entries_[at].node = nullptr;
      free_.push_back(at);
      --under_way_;
      tell(mark, lost.remove(at), gone.remove(at));
    }
  }

  exec::wait_record record_;
  base::list<entry> entries_;
  base::list<std::uint32_t> free_;
  std::size_t under_way_ = 0;
};

/// Drops the future of a call that the pool makes again, so that its failure is not reported.
template <class R>
void forget_lost(future<R>& f) {
  exec::engine& e = exec::engine::here("actor_pool");
  const exec::engine::guard g(e);
  access::of(f).mark_observed();
  f = {};
}

/// Gives futures in the order in which they end. Its owner chooses a number for each future.
template <class R>
class results_as_they_end {
 public:
  std::size_t size() const { return watcher_.under_way() + ended_.size(); }
  bool has_ended() const { return !ended_.empty(); }
  bool has_pending() const { return watcher_.under_way() != 0; }

  void add(const future<R>& f, std::size_t number) {
    std::uint32_t at = 0;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(calls_.size());
      calls_.push_back({f, number});
    } else {
      at = free_.back();
      free_.pop_back();
      calls_[at] = {f, number};
    }
    watcher_.add(f, at);
  }
  /// Collects the futures that have ended. Calls again(number) for each call that was lost with its actor; if that
  /// returns true, pop() does not give the future.
  template <class Again>
  void collect(bool wait, Again&& again) {
    watcher_.take(wait, [&](std::uint32_t at, bool lost, bool) {
      if (lost && again(calls_[at].number)) {
        forget_lost(calls_[at].result);
        free_.push_back(at);
      } else {
        ended_.push_back(at);
      }
    });
  }
  /// Takes one of the collected futures, with its number.
  future<R> pop(std::size_t& number) {
    const std::uint32_t at = ended_.pop_front();
    free_.push_back(at);
    number = calls_[at].number;
    return std::move(calls_[at].result);
  }

 private:
  struct call {
    future<R> result;
    std::size_t number;
  };
  end_watcher watcher_;
  std::vector<call> calls_;
  base::list<std::uint32_t> free_;
  base::ring<std::uint32_t> ended_;
};

}  // namespace manta::detail
