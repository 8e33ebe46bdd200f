// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "manta/serve/http_connections.hpp"

namespace manta::serve::detail {

// --- which there are

MANTA_DECL std::size_t http_connections::size() const {
  std::size_t all = 0;
  for (const connection_list& each : room_.lists) all += each.size();
  return all - room_.of(phase::closed).size();
}

MANTA_DECL bool http_connections::has_unsent() const {
  const auto unsent = [](const auto& each) { return each->has_unsent(); };
  return std::any_of(room_.lists.begin(), room_.lists.end(),
                     [&](const connection_list& all) { return std::any_of(all.begin(), all.end(), unsent); });
}

MANTA_DECL void http_connections::came(std::uint32_t) {
  constexpr int most = 64;  // in one turn
  for (int i = 0; i < most; ++i) {
    if (static_cast<int>(size()) >= options_.max_connections && !end_the_longest_idle()) return listener_.pause(true);
    std::string peer;
    const int socket = listener_.accept(peer);
    if (socket < 0) return;
    accept_one(socket, std::move(peer));
  }
}

inline void http_connections::accept_one(int socket, std::string peer) {
  std::unique_ptr<secure_stream> secure;
  if (options_.tls && !(secure = options_.tls->accept(socket))) {
    ::close(socket);
    return;
  }
  connection_list& fresh = room_.of(phase::fresh);
  fresh.push_back(std::make_unique<http_connection>(room_, socket, std::move(peer), std::move(secure)));
  http_connection& c = *fresh.back();
  c.place = std::prev(fresh.end());
  if (!events_.add(socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, c)) return c.close();
  c.proceed();
}

/// False if each connection has a request under way.
inline bool http_connections::end_the_longest_idle() {
  for (const phase p : {phase::lingering, phase::idle, phase::fresh}) {
    if (room_.of(p).empty()) continue;
    room_.of(p).front()->close();
    return true;
  }
  return false;
}

// --- time

MANTA_DECL void http_connections::begin_turn() { room_.now = clock_ns(); }

/// How long a connection may stay in this phase; 0: for ever.
inline std::int64_t http_connections::patience(phase p) const {
  switch (p) {
    case phase::fresh:
    case phase::receiving:
    case phase::lingering: return in_ns(options_.request_time);
    case phase::idle: return in_ns(options_.idle_time);
    default: return 0;
  }
}

inline constexpr std::array<connection_phase, 4> limited_phases{
    connection_phase::fresh, connection_phase::idle, connection_phase::receiving, connection_phase::lingering};

MANTA_DECL void http_connections::end_turn() {
  for (http_connection* const c : std::exchange(room_.again, {})) {
    if (c->where() != phase::closed) c->proceed();
  }
  for (const phase p : limited_phases) end_overdue(p);
  end_blocked();
  probe_ended();
  room_.of(phase::closed).clear();
  if (static_cast<int>(size()) < options_.max_connections) listener_.pause(false);
}

inline void http_connections::end_overdue(phase p) {
  const std::int64_t longest = patience(p);
  while (!room_.of(p).empty() && room_.now - room_.of(p).front()->since() > longest)
    room_.of(p).front()->end_of_patience();
}

/// Ends connections whose client does not take what is sent.
inline void http_connections::end_blocked() {
  constexpr std::int64_t period = 1'000'000'000;
  if (room_.now - looked_for_blocked_ < period) return;
  looked_for_blocked_ = room_.now;
  std::vector<http_connection*> late;
  for (const connection_list& all : room_.lists) {
    for (const auto& each : all) {
      if (each->blocked_since() != 0 && room_.now - each->blocked_since() > in_ns(options_.idle_time))
        late.push_back(each.get());
    }
  }
  for (http_connection* const each : late) each->abort();
}

/// An answer that comes soon after the client's last byte needs no probe.
inline constexpr std::int64_t time_before_probe = 20'000'000;

inline void http_connections::probe_ended() {
  std::vector<http_connection*>& all = room_.ended;
  const auto is_too_early = [&](const http_connection* c) { return room_.now - c->ended_at() < time_before_probe; };
  const auto end = std::find_if(all.begin(), all.end(), is_too_early);
  const std::vector<http_connection*> due(all.begin(), end);
  all.erase(all.begin(), end);
  for (http_connection* const each : due) each->probe();
}

MANTA_DECL std::int64_t http_connections::next_deadline() const {
  if (!room_.again.empty()) return 0;
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const phase p : limited_phases) {
    if (!room_.of(p).empty()) next = std::min(next, room_.of(p).front()->since() + patience(p) + 1);
  }
  if (!room_.ended.empty()) next = std::min(next, room_.ended.front()->ended_at() + time_before_probe);
  constexpr std::int64_t period = 1'000'000'000;
  if (!room_.of(phase::working).empty() || !room_.of(phase::closing).empty())
    next = std::min(next, looked_for_blocked_ + period);
  return next;
}

}  // namespace manta::serve::detail
