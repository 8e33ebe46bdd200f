// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The open connections of a server, and their limits. libevent reads and writes on them.
#pragma once

#include <event2/buffer.h>  // not found? Install libevent-dev, and link with -levent
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "manta/base/config.hpp"
#include "manta/serve/http_listener.hpp"
#include "manta/serve/http_options.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

class http_exchanges;

/// A connection, for its limits. The bufferevent is kept until it is found to be closed.
struct connection {
  bufferevent* stream;
  std::int64_t began = 0;               // when the first byte of a request came that is not complete
  std::uint64_t exchange = 0;           // that is being answered
  http_exchanges* exchanges = nullptr;  // it is one of these
  bool ours = false;                    // what is being written is an answer of this server, not libevent's own
  bool refused = false;  // libevent has given an answer of its own, perhaps before the request was here in whole
};

class http_connections {
 public:
  http_connections(const http_options& options, http_listener& listener) : options_(options), listener_(listener) {}
  http_connections(const http_connections&) = delete;
  http_connections& operator=(const http_connections&) = delete;

  /// What libevent calls for a new connection, with these connections as `self`.
  MANTA_DECL static bufferevent* accept(event_base* base, void* self);
  /// Null if it is closed.
  MANTA_DECL connection* of(evhttp_request* request) const;
  std::size_t size() const { return open_.size(); }
  /// Is there an answer that has not left yet?
  MANTA_DECL bool has_unsent() const;
  /// Forgets connections that are closed, closes those whose request takes too long to come, and pauses where there are
  /// too many.
  MANTA_DECL void sweep();
  /// At the end, when libevent has freed its side.
  MANTA_DECL void clear();

 private:
  static void input_came(evbuffer*, const evbuffer_cb_info* info, void* from);
  static void output_added(evbuffer* out, const evbuffer_cb_info* info, void* from);
  static bool is_closed(const connection& c);
  static void linger(connection& c);

  const http_options& options_;
  http_listener& listener_;
  std::unordered_map<bufferevent*, std::unique_ptr<connection>> open_;
};

/// Sends an answer. `last`: nothing more is taken on its connection.
MANTA_DECL void send_reply(evhttp_request* request, connection* c, reply answer, bool last);

/// While an answer of ours is written.
class sending {
 public:
  explicit sending(connection* c) : c_(c) { set(true); }
  ~sending() { set(false); }
  sending(const sending&) = delete;

 private:
  void set(bool ours) {
    if (c_ != nullptr) c_->ours = ours;
  }
  connection* c_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_connections.ipp"
#endif
