// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The descriptors of a server: sockets of connections and the one it listens on, in one set of the system's (epoll).
// The set is a descriptor itself, which is readable when one of them has news, so that a watcher can wait for all.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

/// Somebody who is told what comes to a descriptor.
class event_handler {
 public:
  virtual ~event_handler() = default;
  /// `events`: EPOLLIN and others.
  virtual void came(std::uint32_t events) = 0;
};

class event_set {
 public:
  /// Throws manta::error if the system has no descriptors left.
  MANTA_DECL event_set();
  event_set(const event_set&) = delete;
  event_set& operator=(const event_set&) = delete;
  MANTA_DECL ~event_set();

  /// False if the system refuses. The descriptor leaves the set when it is closed.
  MANTA_DECL bool add(int descriptor, std::uint32_t events, event_handler& handler);
  MANTA_DECL void change(int descriptor, std::uint32_t events, event_handler& handler);
  MANTA_DECL void remove(int descriptor);
  /// Tells the handlers what has come; does not wait. A handler must not be destroyed while this runs. False if
  /// nothing has come.
  MANTA_DECL bool turn();
  [[nodiscard]] int descriptor() const { return set_; }

 private:
  int set_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_events.ipp"
#endif
