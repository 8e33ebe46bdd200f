// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ctrl-C (SIGINT) for the servers of a process: one handler counts, and each server compares the count with the one at
// its own beginning. The handler also makes a descriptor readable, which ends the wait of each server.
#pragma once

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace manta::serve::detail {

/// A server's look at the count. All watches of a process belong to the thread that runs tasks.
class interrupt_watch {
 public:
  interrupt_watch() : seen_(count_) {}
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;
  /// The last watch gives SIGINT its former handler back, unless the program has set another one since.
  ~interrupt_watch() {
    if (!has_begun_ || --begun_ > 0) return;
    struct sigaction present {};
    if (::sigaction(SIGINT, nullptr, &present) == 0 && present.sa_handler == &count)
      ::sigaction(SIGINT, &former_, nullptr);
  }

  /// From now on SIGINT does not end the process.
  void begin() {
    if (has_begun_) return;
    has_begun_ = true;
    if (news_ < 0) news_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (begun_++ > 0) return;
    struct sigaction action {};
    action.sa_handler = &count;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, &former_);
  }
  bool has_begun() const { return has_begun_; }
  /// Becomes readable with each SIGINT; nobody reads it. It stays open: a handler may run late.
  static int descriptor() { return news_; }
  /// Whether SIGINT has come since this watch was made.
  bool came() const { return count_ != seen_; }

 private:
  static void count(int) {
    const int before = errno;
    ++count_;
    const std::uint64_t one = 1;
    (void)!::write(news_, &one, sizeof one);
    errno = before;
  }

  static inline std::atomic<unsigned> count_{0};
  static inline int begun_ = 0;  // watches that have begun
  static inline int news_ = -1;
  static inline struct sigaction former_ {};

  unsigned seen_;
  bool has_begun_ = false;
};

}  // namespace manta::serve::detail
