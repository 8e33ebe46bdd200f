// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The server behind serve::http: libevent reads and writes HTTP, this class keeps the connections within their limits,
// checks who asks, finds the route, and answers when the call has ended. One thread: libevent's loop has its turns when
// its descriptor is readable, which a manta::watcher waits for together with the calls' futures.
#pragma once

#include <event2/buffer.h>  // not found? Install libevent-dev, and link with -levent
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include <array>
#include <map>
#include <unordered_map>

#include "manta/output/row.hpp"
#include "manta/serve/endpoint.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/interrupt_watch.hpp"
#include "manta/serve/source_http.hpp"
#include "manta/watcher.hpp"

namespace manta::serve::detail {

inline std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
template <class Duration>
std::int64_t in_ns(Duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

/// How long answers took, and what they were.
struct figures {
  static constexpr std::array<double, 12> bounds{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10, 30};  // s
  std::array<std::uint64_t, bounds.size() + 1> within{};
  std::map<int, std::uint64_t> answers;  // by status
  double seconds = 0;
  std::uint64_t under_way = 0, count = 0;
};

class http_server;

/// A connection, for its limits. The bufferevent is kept until it is found to be closed.
struct connection {
  http_server* server;
  bufferevent* stream;
  std::int64_t began = 0;      // when the first byte of a request came that is not complete
  std::uint64_t exchange = 0;  // that is being answered
  bool ours = false;           // what is being written is an answer of this server, not libevent's own
  bool refused = false;        // libevent has given an answer of its own, perhaps before the request was here in whole
};

/// A request that is being answered.
struct exchange {
  evhttp_request* request;
  endpoint* at;
  std::unique_ptr<call> work;
  connection* from;
  std::int64_t began;
  std::int64_t calls = 1;  // of the deployment
  enum class form { whole, infer, lines, events } as = form::whole;
  bool begun = false;  // parts have been sent
  std::string answer = {};
};

/// What is sent back at once.
struct reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> header = {};
};

/// What a client has sent, for a text that goes back to it: the beginning, if it is long.
inline std::string shown(const std::string& text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // between characters
  return text.substr(0, end) + "...";
}

inline reply failure(int status, const std::string& why) {
  std::string body = "{\"error\":";
  output::append_json_text(body, why);  // whatever its bytes are
  return {status, body + "}"};
}

class http_server {
 public:
  explicit http_server(http_options options);
  ~http_server();
  http_server(const http_server&) = delete;

  void add(std::unique_ptr<endpoint> e);
  /// One turn: events of the network, then calls that have ended; waits for one at most that long.
  void turn(std::chrono::nanoseconds longest);
  void begin();
  void drain(const std::string& why);
  bool has_ended() const;
  int port() const { return port_; }
  std::string url() const;

 private:
  // http_server.ipp: the network
  void listen_on_port();
  void listen_on_socket();
  static int find_descriptor(const std::vector<int>& before);
  static bufferevent* accept(event_base* base, void* self);
  static void input_came(evbuffer*, const evbuffer_cb_info* info, void* from);
  static void output_added(evbuffer* out, const evbuffer_cb_info* info, void* from);
  static void linger(connection& c);
  static void connection_closed(evhttp_connection*, void* from);
  void sweep();
  connection* connection_of(evhttp_request* request);

  // http_requests.ipp: requests and answers
  static void request_came(evhttp_request* request, void* self);
  void handle(evhttp_request* request);
  void check_room(std::int64_t calls) const;
  void start(evhttp_request* request, endpoint& at, bool infer, std::string_view body);
  void advance(std::uint64_t id);
  void wait_for(std::uint64_t id, exchange& x);
  void send_part(std::uint64_t id, exchange& x, bool last);
  void finish(std::uint64_t id, exchange& x, int status);
  exchange take_out(std::uint64_t id);
  void send(evhttp_request* request, reply answer);
  static void part_sent(evhttp_connection*, void* self);
  void overdue();

  // http_guard.ipp: who may ask, and what is a request at all
  bool refuse(evhttp_request* request, reply& answer) const;
  bool is_known_host(std::string host) const;

  // http_pages.ipp: what the server says of itself
  struct own_page;
  static const own_page* find_own_page(std::string_view path);  ///< null if it is none of those that each server has
  static bool is_own_path(std::string_view path);
  reply page(const std::string& path, bool get);
  reply model(std::string name) const;
  endpoint* find_model(std::string name, reply& problem) const;
  std::string metrics() const;
  std::string openapi() const;
  std::string status() const;
  bool send_file(evhttp_request* request, const std::string& path);

  http_options options_;
  event_base* base_ = nullptr;
  evhttp* http_ = nullptr;
  evhttp_bound_socket* bound_ = nullptr;
  int descriptor_ = -1, port_ = 0;
  std::string socket_;  // to be removed, if it is still this server's
  std::uint64_t socket_file_ = 0;
  std::vector<std::unique_ptr<endpoint>> routes_;
  std::unordered_map<const endpoint*, figures> figures_;
  std::unordered_map<bufferevent*, std::unique_ptr<connection>> connections_;
  std::unordered_map<std::uint64_t, exchange> exchanges_;
  manta::watcher watcher_;
  interrupt_watch interrupts_;
  std::uint64_t next_id_ = 1;
  std::int64_t calls_under_way_ = 0;
  std::int64_t swept_ = 0, drain_until_ = 0, started_ = 0;
  std::uint64_t refused_ = 0;
  std::string draining_;  // why
  bool paused_ = false;   // as many connections as there may be
};

}  // namespace manta::serve::detail
