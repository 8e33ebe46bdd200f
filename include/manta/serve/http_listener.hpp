// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where a server listens: on a port, or on a Unix socket, whose file it removes at its end.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_events.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve::detail {

class http_listener {
 public:
  explicit http_listener(const http_options& options) : options_(options) {}
  MANTA_DECL ~http_listener();
  http_listener(const http_listener&) = delete;
  http_listener& operator=(const http_listener&) = delete;

  /// Listens; the handler is told when connections come. Throws if the place is taken or must not be used.
  MANTA_DECL void open(event_set& events, event_handler& handler);
  /// Takes the next connection, and says from where it comes. -1: there is none.
  MANTA_DECL int accept(std::string& peer) const;
  /// The handler is told nothing for a while, or again.
  MANTA_DECL void pause(bool paused);
  /// No connections are accepted any more.
  MANTA_DECL void close();
  int port() const { return port_; }
  MANTA_DECL std::string url() const;

 private:
  void open_port();
  void open_socket();  ///< A socket that nobody answers on any more is replaced.

  const http_options& options_;
  event_set* events_ = nullptr;
  event_handler* handler_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::string socket_ = {};  // to be removed, if it is still this server's
  std::uint64_t socket_file_ = 0;
  bool paused_ = false;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_listener.ipp"
#endif
