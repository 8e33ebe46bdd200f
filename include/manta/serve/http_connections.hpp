// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The open connections of a server, and their limits: how many there may be, and how long each may wait, read and send.
// The first connection of each phase has been in it for the longest time, so it is the next whose time is up.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_connection.hpp"
#include "manta/serve/http_listener.hpp"

namespace manta::serve::detail {

class http_connections final : public event_handler {
 public:
  http_connections(const http_options& options, http_service& service, event_set& events, http_listener& listener)
      : options_(options), events_(events), listener_(listener), room_{options, service} {}
  http_connections(const http_connections&) = delete;
  http_connections& operator=(const http_connections&) = delete;

  /// The listener's socket has connections. Where there are too many, the one that has been idle for the longest time
  /// gives way; if none is idle, further ones wait to be accepted.
  MANTA_DECL void came(std::uint32_t events) override;
  /// A turn begins: its time is taken.
  MANTA_DECL void begin_turn();
  /// Gives those that have more to read another share, and ends those whose time is up.
  MANTA_DECL void end_turn();
  /// When end_turn has to be called next if nothing comes; 0: at once.
  [[nodiscard]] MANTA_DECL std::int64_t next_deadline() const;
  [[nodiscard]] std::int64_t now() const { return room_.now; }
  /// Number of open connections.
  [[nodiscard]] MANTA_DECL std::size_t size() const;
  /// Is there an answer that has not left yet?
  [[nodiscard]] MANTA_DECL bool has_unsent() const;

 private:
  using phase = connection_phase;

  [[nodiscard]] std::int64_t patience(phase p) const;
  void accept_one(int socket, std::string peer);
  bool end_the_longest_idle();
  void end_overdue(phase p);
  void end_blocked();
  void probe_ended();

  const http_options& options_;
  event_set& events_;
  http_listener& listener_;
  connection_room room_;
  std::int64_t looked_for_blocked_ = 0;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_connections.ipp"
#endif
