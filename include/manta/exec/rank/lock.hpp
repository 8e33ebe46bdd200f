// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The lock between a rank's own thread, which enters the library millions of
// times a second, and the progress helper, which looks in now and then. It is
// biased: the owner pays two plain stores and a load, the helper a membarrier
// system call that orders the owner's stores for it. Where that call is missing
// the owner's store becomes an exchange; under the thread sanitizer, which
// cannot see through either, it is a flag. (A mutex would be of no use to it:
// the owner may take it on one stack and give it back on another, which are two
// threads to the sanitizer.)
#pragma once

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "manta/base/config.hpp"

#if defined(__SANITIZE_THREAD__)
#define MANTA_LOCK_IS_FLAG 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MANTA_LOCK_IS_FLAG 1
#endif
#endif

namespace manta::exec {

class biased_lock {
 public:
  /// `rouse(argument)` is called by the owner when it leaves and the helper dozes.
  explicit biased_lock(void (*rouse)(void* argument) = nullptr, void* argument = nullptr)
      : rouse_(rouse), argument_(argument) {
    const long registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    fence_by_helper_ = registered == 0;
  }

  // --- the owner's side: one thread only, nested calls allowed

  void enter() {
    if (depth_++ == 0) acquire();
  }
  void leave() {
    if (--depth_ == 0) release();
  }
  /// Gives the lock up however deep the calls are nested; the depth to hand to come_back.
  int step_out() {
    const int depth = depth_;
    depth_ = 0;
    release();
    return depth;
  }
  void come_back(int depth) {
    acquire();
    depth_ = depth;
  }

  /// Stays inside for long, and looks after everything itself: the helper may sleep until then.
  void stay() { helper_rests_.fetch_or(while_owner_stays, std::memory_order_relaxed); }

  /// How deep the calls of the current stack are nested; each stack that is left keeps its own and sets it again.
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }

  /// In a child process that has only been copied together with the lock: whoever enters calls `refuse`, and
  /// does not return.
  void is_copy(void (*refuse)()) {
    refuse_ = refuse;
#ifdef MANTA_LOCK_IS_FLAG
    taken_.store(true);
#else
    helper_.store(true);
#endif
  }

  // --- the helper's side

  /// Changes with every entry of the owner.
  std::uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  bool owner_is_inside() const { return inside_.load(std::memory_order_relaxed); }
  /// Returns when the owner does not stay inside any more.
  MANTA_DECL void wait_while_owner_stays();
  /// Before it gives the lock up, and after it has slept.
  void doze() { helper_rests_.fetch_or(dozes, std::memory_order_relaxed); }
  void doze_no_more() { helper_rests_.fetch_and(~dozes, std::memory_order_relaxed); }

  /// Takes the lock if the owner is outside.
  MANTA_DECL bool try_acquire_for_helper();
  void release_for_helper() {
#ifdef MANTA_LOCK_IS_FLAG
    taken_.store(false, std::memory_order_release);
#else
    helper_.store(false, std::memory_order_release);
#endif
  }

 private:
  void acquire() {
    entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
#ifdef MANTA_LOCK_IS_FLAG
    while (taken_.exchange(true, std::memory_order_acquire)) yield();
    inside_.store(true, std::memory_order_relaxed);
#else
    for (;;) {
      if (fence_by_helper_) {
        inside_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
      } else {
        inside_.exchange(true, std::memory_order_seq_cst);
      }
      if (!helper_.load(std::memory_order_acquire)) [[likely]]
        return;
      inside_.store(false, std::memory_order_release);
      while (helper_.load(std::memory_order_acquire)) yield();
    }
#endif
  }
  /// Lets the helper go on, which has the lock; in a copied process, refuses.
  MANTA_DECL void yield() const;
  void release() {
    inside_.store(false, std::memory_order_release);
#ifdef MANTA_LOCK_IS_FLAG
    taken_.store(false, std::memory_order_release);
#endif
    if (helper_rests_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      look_after_helper();
  }
  /// Wakes the helper where it waits or dozes.
  MANTA_DECL void look_after_helper();

  int depth_ = 0;
  std::atomic<bool> inside_{false};
  std::atomic<bool> helper_{false};
  std::atomic<std::uint64_t> entries_{0};
  static constexpr int while_owner_stays = 1, dozes = 2;
  std::atomic<int> helper_rests_{0};
  void (*rouse_)(void*);
  void (*refuse_)() = nullptr;
  void* argument_;
  bool fence_by_helper_;
#ifdef MANTA_LOCK_IS_FLAG
  std::atomic<bool> taken_{false};
#endif
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/lock.ipp"
#endif
