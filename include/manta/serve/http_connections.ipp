// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_connections.hpp.
#pragma once

#include <sys/socket.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "manta/serve/http_connections.hpp"

namespace manta::serve::detail {

/// The stream of a new connection. It is kept beside libevent, which would not say that it has gone. Its descriptor is
/// closed with it: were it closed before, the next connection had the same number, and the events of both.
MANTA_DECL bufferevent* http_connections::accept(event_base* base, void* self) {
  auto& all = *static_cast<http_connections*>(self);
  bufferevent* const stream =
      all.options_.tls ? all.options_.tls->accept(base) : ::bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
  if (stream == nullptr) return nullptr;
  ::bufferevent_incref(stream);
  auto made = std::make_unique<connection>(connection{stream});
  made->began = clock_ns();  // a connection without a request is to go, too
  ::evbuffer_add_cb(::bufferevent_get_input(stream), &http_connections::input_came, made.get());
  ::evbuffer_add_cb(::bufferevent_get_output(stream), &http_connections::output_added, made.get());
  constexpr std::size_t some = 64 * 1024;
  ::bufferevent_setwatermark(stream, EV_READ, 0,
                             all.options_.max_header + all.options_.max_body + some);  // the most that is read ahead
  all.open_.emplace(stream, std::move(made));
  if (static_cast<int>(all.open_.size()) >= all.options_.max_connections) all.sweep();
  return stream;
}

MANTA_DECL void http_connections::input_came(evbuffer*, const evbuffer_cb_info* info, void* from) {
  auto& c = *static_cast<connection*>(from);
  if (info->n_added > 0 && c.began == 0 && c.exchange == 0) c.began = clock_ns();
}

/// libevent answers what it cannot read by itself, and then closes the connection; it must not read on, or it would
/// answer each further piece of it.
MANTA_DECL void http_connections::output_added(evbuffer* out, const evbuffer_cb_info* info, void* from) {
  auto& c = *static_cast<connection*>(from);
  if (info->n_added == 0 || c.ours || c.exchange != 0) return;
  char begin[13] = "";
  if (::evbuffer_copyout(out, begin, 12) == 12 && std::strcmp(begin + 8, " 100") == 0) return;  // the body may come
  ::bufferevent_disable(c.stream, EV_READ);
  c.refused = true;
}

/// libevent has refused a request and closed its side, and the client may still send the rest of it. If the descriptor
/// were closed now, many clients would see a broken connection instead of the answer. So the server reads what comes
/// and throws it away, for as long as a request may take.
MANTA_DECL void http_connections::linger(connection& c) {
  c.began = clock_ns();
  const auto throw_away = [](bufferevent* stream, void*) {
    evbuffer* const in = ::bufferevent_get_input(stream);
    ::evbuffer_drain(in, ::evbuffer_get_length(in));
  };
  const auto ended = [](bufferevent* stream, short, void*) {
    ::bufferevent_disable(stream, EV_READ);
    ::bufferevent_setcb(stream, nullptr, nullptr, nullptr, nullptr);
  };
  ::bufferevent_setcb(c.stream, throw_away, nullptr, ended, nullptr);
  ::bufferevent_enable(c.stream, EV_READ);
  throw_away(c.stream, nullptr);
}

MANTA_DECL connection* http_connections::of(evhttp_request* request) const {
  const auto at = open_.find(::evhttp_connection_get_bufferevent(::evhttp_request_get_connection(request)));
  return at == open_.end() ? nullptr : at->second.get();
}

/// libevent has freed its side: it takes its functions away then.
MANTA_DECL bool http_connections::is_closed(const connection& c) {
  bufferevent_event_cb events = nullptr;
  bufferevent_data_cb in = nullptr, out = nullptr;
  void* argument = nullptr;
  ::bufferevent_getcb(c.stream, &in, &out, &events, &argument);
  const bool is_new = ::bufferevent_getfd(c.stream) < 0 && clock_ns() - c.began < 1'000'000'000;
  return events == nullptr && !is_new;
}

MANTA_DECL void http_connections::sweep() {
  const std::int64_t now = clock_ns();
  for (auto at = open_.begin(); at != open_.end();) {
    connection& c = *at->second;
    if (is_closed(c) && std::exchange(c.refused, false) && !options_.tls) linger(c);
    if (is_closed(c)) {
      ::evbuffer_remove_cb(::bufferevent_get_input(c.stream), &http_connections::input_came, &c);
      ::evbuffer_remove_cb(::bufferevent_get_output(c.stream), &http_connections::output_added, &c);
      ::bufferevent_decref(c.stream);
      at = open_.erase(at);
      continue;
    }
    if (c.exchange == 0 && c.began != 0 && now - c.began > in_ns(options_.request_time)) {
      constexpr std::string_view late =
          "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      const int descriptor = ::bufferevent_getfd(c.stream);
      if (!options_.tls) (void)!::send(descriptor, late.data(), late.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      ::shutdown(descriptor, SHUT_RDWR);  // libevent finds its end
      c.began = now;
    }
    ++at;
  }
  listener_.pause(static_cast<int>(open_.size()) >= options_.max_connections);
}

MANTA_DECL bool http_connections::has_unsent() const {
  for (const auto& [stream, each] : open_) {
    if (!is_closed(*each) && ::evbuffer_get_length(::bufferevent_get_output(stream)) != 0) return true;
  }
  return false;
}

MANTA_DECL void http_connections::clear() {
  for (const auto& [stream, each] : open_) ::bufferevent_decref(stream);
  open_.clear();
}

// --- answers

inline const char* reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Internal Server Error";
  }
}

MANTA_DECL void send_reply(evhttp_request* request, connection* c, reply answer, bool last) {
  evkeyvalq* const header = ::evhttp_request_get_output_headers(request);
  if (!answer.type.empty()) ::evhttp_add_header(header, "Content-Type", answer.type.c_str());
  for (const auto& [name, value] : answer.header) ::evhttp_add_header(header, name.c_str(), value.c_str());
  if (last) ::evhttp_add_header(header, "Connection", "close");
  evbuffer* const out = ::evhttp_request_get_output_buffer(request);
  ::evbuffer_add(out, answer.body.data(), answer.body.size());
  if (::evhttp_request_get_command(request) == EVHTTP_REQ_HEAD) {  // libevent would send the body
    ::evhttp_add_header(header, "Content-Length", std::to_string(::evbuffer_get_length(out)).c_str());
    ::evbuffer_drain(out, ::evbuffer_get_length(out));
  }
  const sending under_way(c);
  ::evhttp_send_reply(request, answer.status, reason(answer.status), nullptr);
}

}  // namespace manta::serve::detail
