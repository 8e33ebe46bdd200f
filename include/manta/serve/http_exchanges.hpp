// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// From a request to its answer: the call is started, its futures are watched, and each step of it is sent as it ends.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "manta/base/config.hpp"
#include "manta/serve/access_log.hpp"
#include "manta/serve/http_connection.hpp"
#include "manta/serve/http_failures.hpp"
#include "manta/serve/http_guard.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

/// A request on its way through the server.
struct exchange {
  http_connection* from = nullptr;
  route* at = nullptr;  ///< null: a page of the server's own
  std::unique_ptr<call> work = {};
  std::int64_t began = 0;
  std::string id = {};           ///< id of the request; empty: there is none
  bool id_is_clients = false;    ///< the client has given it
  bool may_compress = false;     ///< the client reads compressed answers
  std::string_view origin = {};  ///< origin of the page that asks; of the message
  answer_form form = answer_form::whole;
  bool has_begun = false;  ///< parts have been sent
  std::size_t sent = 0;    ///< bytes of these
  reply answer = {};
  std::string problem = {};  ///< text of the exception, for the log
};

/// Whether the server takes no more requests, why, and until when it answers those that it has.
struct drain_state {
  std::string why = {};
  std::int64_t until = 0;
  [[nodiscard]] bool has_begun() const { return !why.empty(); }
};

/// What the parts of a server share that answer requests.
struct http_tools {
  const http_options& options;
  const http_guard& guard;
  const drain_state& end;
  const http_failures& failures;
  access_log& log;
};

class http_exchanges {
 public:
  http_exchanges(const http_tools& tools, manta::watcher& watcher) : tools_(tools), watcher_(watcher) {}
  http_exchanges(const http_exchanges&) = delete;
  http_exchanges& operator=(const http_exchanges&) = delete;

  /// Starts the call of a route, or refuses it.
  MANTA_DECL void start(exchange x, const incoming& in);
  /// Starts the call of a model for a request with tensors, or refuses it.
  MANTA_DECL void start_inference(exchange x, const incoming& in, int version);
  /// Answers by this call, which is no route's.
  MANTA_DECL void start_page(exchange x, std::unique_ptr<call> work);
  /// Sends an answer that is there.
  MANTA_DECL void answer_at_once(exchange& x, reply answer);
  /// The future has ended that this exchange waits for: takes the next step of its call, and sends what that gives.
  MANTA_DECL void advance(std::uint64_t id);
  /// All that was given to the connection has left.
  MANTA_DECL void part_left(std::uint64_t id);
  /// The client has gone: nobody waits for the answer any more.
  MANTA_DECL void client_left(std::uint64_t id);
  /// Answers what takes too long.
  MANTA_DECL void end_overdue(std::int64_t now);
  /// When end_overdue has to be called next.
  [[nodiscard]] std::int64_t next_deadline() const { return next_deadline_; }
  /// The server drains: what is under way has less time from now on.
  void note_end() { next_deadline_ = 0; }
  [[nodiscard]] std::size_t size() const { return open_.size(); }
  /// Answers that no route has given, by status: pages, and requests that were refused.
  [[nodiscard]] const std::map<int, std::uint64_t>& other_answers() const { return other_answers_; }

 private:
  /// The bit by which the watcher's number of a break differs from that of a step.
  static constexpr std::uint64_t of_a_break = std::uint64_t{1} << 63;

  void open(exchange x);
  template <class Start>
  void try_to_start(exchange& x, Start&& start_call);
  void wait_for(std::uint64_t id, exchange& x);
  void look(std::uint64_t id);
  void send_values(std::uint64_t id, exchange& x, bool is_last);
  void finish(std::uint64_t id);
  void fail(exchange& x);
  void note(const exchange& x, int status);
  void add_fields(const exchange& x, reply& answer) const;
  void compress(const exchange& x, reply& answer) const;
  [[nodiscard]] std::int64_t deadline(const exchange& x) const;

  const http_tools& tools_;
  manta::watcher& watcher_;
  std::unordered_map<std::uint64_t, exchange> open_;
  std::map<int, std::uint64_t> other_answers_;
  std::uint64_t next_id_ = 1;
  std::int64_t next_deadline_ = std::numeric_limits<std::int64_t>::max();  ///< no deadline is earlier
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_exchanges.ipp"
#endif
