// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The server behind serve::http: libevent reads and writes HTTP, and this class gives each request to the part that
// answers it. One thread: libevent's loop has its turns when its descriptor is readable, which a manta::watcher waits
// for together with the calls' futures.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/http_connections.hpp"
#include "manta/serve/http_exchanges.hpp"
#include "manta/serve/http_guard.hpp"
#include "manta/serve/http_listener.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/interrupt_watch.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

class http_server {
 public:
  explicit http_server(http_options options);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Throws if the route could not be used.
  void add(std::unique_ptr<endpoint> e) { routes_.add(std::move(e)); }
  /// The first turn may come: signals are watched, and the server says where it is.
  void begin();
  /// One turn: events of the network, then calls that have ended; waits for one at most that long.
  void turn(std::chrono::nanoseconds longest);
  /// Takes no more requests, because of `why`, and answers those that it has.
  void drain(const std::string& why);
  /// Is nothing under way after drain(), and what was answered has been sent?
  bool has_ended() const;
  int port() const { return listener_.port(); }
  std::string url() const { return listener_.url(); }

 private:
  static int find_descriptor(const std::vector<int>& before);
  static void request_came(evhttp_request* request, void* self);
  /// Gives the request to its route, or answers it.
  void handle(evhttp_request* request);
  void send(evhttp_request* request, reply answer);
  server_state state() const;

  const http_options options_;
  event_base* base_ = nullptr;
  evhttp* http_ = nullptr;
  int descriptor_ = -1;
  http_listener listener_{options_};
  route_table routes_;
  drain_state end_;
  http_connections connections_{options_, listener_};
  http_exchanges exchanges_{options_, connections_, end_, watcher_};
  manta::watcher watcher_;  // destroyed before what it watches
  interrupt_watch interrupts_;
  std::int64_t swept_ = 0, started_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace manta::serve::detail
