// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where a server listens: on a port, or on a Unix socket, whose file it removes at its end.
#pragma once

#include <event2/http.h>

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve::detail {

class http_listener {
 public:
  explicit http_listener(const http_options& options) : options_(options) {}
  MANTA_DECL ~http_listener();
  http_listener(const http_listener&) = delete;
  http_listener& operator=(const http_listener&) = delete;

  /// Throws if the place is taken or must not be used.
  MANTA_DECL void open(evhttp* http);
  /// No connections are accepted for a while, or again.
  MANTA_DECL void pause(bool paused);
  /// No connections are accepted any more.
  MANTA_DECL void close(evhttp* http);
  int port() const { return port_; }
  MANTA_DECL std::string url() const;

 private:
  void open_port(evhttp* http);
  void open_socket(evhttp* http);  ///< A socket that nobody answers on any more is replaced.

  const http_options& options_;
  evhttp_bound_socket* bound_ = nullptr;
  int port_ = 0;
  std::string socket_ = {};  // to be removed, if it is still this server's
  std::uint64_t socket_file_ = 0;
  bool paused_ = false;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_listener.ipp"
#endif
