// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/serve/http_events.hpp"

namespace manta::serve::detail {

MANTA_DECL event_set::event_set() : set_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (set_ < 0) throw error(base::text("manta: serve::http: cannot start: {}", std::strerror(errno)));
}
MANTA_DECL event_set::~event_set() { ::close(set_); }

MANTA_DECL bool event_set::add(int descriptor, std::uint32_t events, event_handler& handler) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  return ::epoll_ctl(set_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

MANTA_DECL void event_set::change(int descriptor, std::uint32_t events, event_handler& handler) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  ::epoll_ctl(set_, EPOLL_CTL_MOD, descriptor, &event);
}

MANTA_DECL void event_set::remove(int descriptor) { ::epoll_ctl(set_, EPOLL_CTL_DEL, descriptor, nullptr); }

MANTA_DECL bool event_set::turn() {
  epoll_event events[128];
  const int count = ::epoll_wait(set_, events, 128, 0);
  for (int i = 0; i < count; ++i) static_cast<event_handler*>(events[i].data.ptr)->came(events[i].events);
  return count > 0;
}

}  // namespace manta::serve::detail
