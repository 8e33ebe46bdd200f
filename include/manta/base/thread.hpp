// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Background threads: they receive no signals, which are meant for the program's own threads. And how soon such a
// thread runs after a wake-up where others compute on its core.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace manta::base {

/// Starts a thread without signals, which the caller must join. False if there can be no more threads.
inline bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  const bool started = ::pthread_create(&thread, nullptr, body, argument) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

/// Gives this thread, and the threads that it starts, the shortest time slice. Their share of a core does not change,
/// but a thread that wakes up need not wait until the slice of the thread that computes there has ended. It needs Linux
/// 6.12 or later, and has no effect elsewhere.
class short_time_slice {
 public:
  short_time_slice() {
    constexpr std::uint64_t shortest = 100'000;  // ns
    attributes now{};
    if (!get(now) || now.policy != SCHED_OTHER) return;
    before_ = now.runtime;  // 0: this system knows no slices
    if (before_ != 0) set(now, shortest);
  }
  ~short_time_slice() {
    attributes now{};
    if (before_ != 0 && get(now)) set(now, before_);
  }
  short_time_slice(const short_time_slice&) = delete;
  short_time_slice& operator=(const short_time_slice&) = delete;

 private:
  struct attributes {  // the kernel's sched_attr in its first form; older C libraries do not declare it
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  };
  static bool get(attributes& all) { return ::syscall(SYS_sched_getattr, 0, &all, sizeof all, 0) == 0; }
  static void set(attributes& all, std::uint64_t slice) {
    all.runtime = slice;
    ::syscall(SYS_sched_setattr, 0, &all, 0);
  }
  std::uint64_t before_ = 0;
};

}  // namespace manta::base
