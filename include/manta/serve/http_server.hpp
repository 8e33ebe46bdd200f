// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The server behind serve::http: gives each request to the part that answers it. One thread: the set of descriptors has
// its turn when it is readable, which a manta::watcher waits for together with the calls' futures.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/access_log.hpp"
#include "manta/serve/http_connections.hpp"
#include "manta/serve/http_exchanges.hpp"
#include "manta/serve/http_failures.hpp"
#include "manta/serve/http_guard.hpp"
#include "manta/serve/http_listener.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/interrupt_watch.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

class http_server final : public http_service {
 public:
  explicit http_server(http_options options);
  ~http_server() override;
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Throws if the route could not be used.
  void add(std::unique_ptr<endpoint> e);
  void add_status(const char* type, int status) { failures_.add(type, status); }
  /// For the status: asks the servers on other ranks what they do.
  void ask_others(std::function<std::vector<future<std::string>>()> ask) { ask_others_ = std::move(ask); }
  /// What this server does, in JSON.
  [[nodiscard]] MANTA_DECL std::string state_text() const;
  /// The first turn may come: signals are watched, and the server says where it is.
  void begin();
  /// One turn: events of the network, then calls that have ended; waits for one at most that long.
  void turn(std::chrono::nanoseconds longest);
  /// Takes no more requests, because of `why`, and answers those that it has.
  void drain(const std::string& why);
  /// Is nothing under way after drain(), and what was answered has been sent?
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] int port() const { return listener_.port(); }
  [[nodiscard]] std::string url() const { return listener_.url(); }

  bool admit(http_connection& c) override;
  void answer_request(http_connection& c) override;
  void answer_refusal(http_connection& c, const message_refusal& why) override;
  void part_left(http_connection& c) override { exchanges_.part_left(c.exchange); }
  void client_left(http_connection& c) override { exchanges_.client_left(c.exchange); }

 private:
  exchange exchange_for(http_connection& c);
  bool refuses(exchange& x, const http_target& target);
  void answer(exchange x, const http_target& target);
  void answer_options(exchange& x, const http_target& target);
  bool read_coding(exchange& x);
  bool answer_by_route(exchange& x, const http_target& target);
  bool answer_by_model(exchange& x, const http_target& target);
  bool answer_by_change(exchange& x, const http_target& target);
  void answer_by_page(exchange& x, const http_target& target);
  [[nodiscard]] server_state state() const;
  [[nodiscard]] std::int64_t next_look() const;
  void look_for_end(std::int64_t now);

  /// A descriptor that only ends a wait.
  struct waker final : event_handler {
    void came(std::uint32_t) override {}
  };

  const http_options options_;
  event_set events_;
  http_listener listener_{options_};
  http_guard guard_{options_};
  http_failures failures_{options_.detailed_errors};
  access_log log_;
  route_table routes_;
  drain_state end_;
  http_tools tools_{options_, guard_, end_, failures_, log_};
  manta::watcher watcher_;
  http_exchanges exchanges_{tools_, watcher_};
  http_connections connections_{options_, *this, events_, listener_};
  interrupt_watch interrupts_;
  waker interrupt_news_;
  bool has_waited_ = false;  ///< and no call has ended meanwhile
  std::int64_t looked_for_end_ = 0, started_ = 0;
  std::uint64_t refused_ = 0, next_request_ = 0;
  std::function<std::vector<future<std::string>>()> ask_others_;
  std::string ids_;  ///< how the ids of this server's requests begin
};

}  // namespace manta::serve::detail
