// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// From a request to its answer: the call is started, its futures are watched, and each step of it is sent as it ends.
#pragma once

#include <event2/http.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "manta/base/config.hpp"
#include "manta/serve/http_connections.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// A request that is being answered.
struct exchange {
  evhttp_request* request;
  route* at;
  std::unique_ptr<call> work;
  connection* from;
  std::int64_t began;
  std::int64_t calls = 1;  // of the deployment
  enum class form { whole, infer, lines, events } as = form::whole;
  bool begun = false;  // parts have been sent
  std::string answer = {};
};

/// Whether the server takes no more requests, why, and until when it answers those that it has.
struct drain_state {
  std::string why = {};
  std::int64_t until = 0;
  bool has_begun() const { return !why.empty(); }
};

class http_exchanges {
 public:
  http_exchanges(const http_options& options, const http_connections& connections, const drain_state& end,
                 manta::watcher& watcher)
      : options_(options), connections_(connections), end_(end), watcher_(watcher) {}
  http_exchanges(const http_exchanges&) = delete;
  http_exchanges& operator=(const http_exchanges&) = delete;

  /// Starts the call of a request, or refuses it. `infer`: the body has tensors.
  MANTA_DECL void start(evhttp_request* request, route& at, bool infer, std::string_view body);
  /// The future has ended that this exchange waits for: takes the next step of its call, and sends what that gives.
  MANTA_DECL void advance(std::uint64_t id);
  /// Answers what takes too long.
  MANTA_DECL void end_overdue();
  std::size_t size() const { return open_.size(); }
  /// At the end: nothing more is told when a client goes.
  MANTA_DECL void let_go();

 private:
  void start_call(exchange& x, bool infer, std::string_view body);
  void check_room(std::int64_t calls) const;
  void wait_for(std::uint64_t id, exchange& x);
  void send_part(std::uint64_t id, exchange& x, bool last);
  void finish(std::uint64_t id, exchange& x, int status);
  exchange take_out(std::uint64_t id);
  static void part_sent(evhttp_connection*, void* from);
  static void client_gone(evhttp_connection*, void* from);

  const http_options& options_;
  const http_connections& connections_;
  const drain_state& end_;
  manta::watcher& watcher_;
  std::unordered_map<std::uint64_t, exchange> open_;
  std::uint64_t next_id_ = 1;
  std::int64_t calls_under_way_ = 0;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_exchanges.ipp"
#endif
