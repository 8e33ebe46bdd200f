// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ends the sleep of a rank when a descriptor becomes readable. A rank of many sleeps on a word in memory, which other
// ranks of its node change; that sleep ends for no descriptor. So a thread waits for the descriptors, and rings for
// the rank. It is woken only when a descriptor was armed, which the rank does before it sleeps, so a
// busy rank never pays for it.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "manta/base/thread.hpp"

namespace manta::exec {

class descriptor_bell {
 public:
  /// `ring(self)` is called from the thread.
  descriptor_bell(void (*ring)(void*), void* self)
      : ring_(ring), self_(self), set_(::epoll_create1(EPOLL_CLOEXEC)), end_(::eventfd(0, EFD_CLOEXEC)) {
    epoll_event stop{};
    stop.events = EPOLLIN;
    stop.data.u64 = 1;
    ::epoll_ctl(set_, EPOLL_CTL_ADD, end_, &stop);
    runs_ = base::start_thread(
        thread_,
        [](void* bell) -> void* {
          static_cast<descriptor_bell*>(bell)->watch();
          return nullptr;
        },
        this);
  }
  descriptor_bell(const descriptor_bell&) = delete;
  descriptor_bell& operator=(const descriptor_bell&) = delete;
  ~descriptor_bell() {
    const std::uint64_t one = 1;
    if (runs_ && ::write(end_, &one, sizeof one) == sizeof one) ::pthread_join(thread_, nullptr);
    ::close(set_);
    ::close(end_);
  }

  /// Rings once when the descriptor is readable. False if there is no thread, or it cannot wait for this descriptor.
  bool arm(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    if (!runs_) return false;
    if (::epoll_ctl(set_, EPOLL_CTL_MOD, descriptor, &event) == 0) return true;
    return errno == ENOENT && ::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &event) == 0;
  }
  /// The descriptor is forgotten.
  void disarm(int descriptor) {
    epoll_event event{};
    ::epoll_ctl(set_, EPOLL_CTL_DEL, descriptor, &event);
  }

 private:
  void watch() {
    for (;;) {
      epoll_event event{};
      if (::epoll_wait(set_, &event, 1, -1) <= 0) continue;  // interrupted
      if (event.data.u64 == 1) return;
      ring_(self_);
    }
  }

  void (*ring_)(void*);
  void* self_;
  int set_, end_;
  bool runs_ = false;
  pthread_t thread_{};
};

}  // namespace manta::exec
