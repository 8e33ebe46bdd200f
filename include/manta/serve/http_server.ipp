// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The network side of the server: listening, connections and their limits, the loop, the end.
#pragma once

#include <dirent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "manta/async.hpp"
#include "manta/run.hpp"
#include "manta/serve/http_server.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

/// Descriptors of this process that are epoll's.
inline std::vector<int> event_descriptors() {
  std::vector<int> all;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return all;
  while (const dirent* const each = ::readdir(folder)) {
    char target[64] = "";
    const std::string path = std::string("/proc/self/fd/") + each->d_name;
    if (::readlink(path.c_str(), target, sizeof target - 1) > 0 && std::strcmp(target, "anon_inode:[eventpoll]") == 0)
      all.push_back(std::atoi(each->d_name));
  }
  ::closedir(folder);
  return all;
}

/// libevent does not say which descriptor its loop waits on: it is the one that has come. -1: not found.
MANTA_DECL int http_server::find_descriptor(const std::vector<int>& before) {
  int found = -1;
  for (const int each : event_descriptors()) {
    if (std::find(before.begin(), before.end(), each) == before.end()) found = each;
  }
  return found;
}

/// Tells the file of a socket from one that another job has made in its place since; 0: there is none.
inline std::uint64_t socket_number(const std::string& path) {
  struct stat its {};
  if (::lstat(path.c_str(), &its) != 0 || !S_ISSOCK(its.st_mode)) return 0;
  const auto made = static_cast<std::uint64_t>(its.st_mtim.tv_sec * 1'000'000'000 + its.st_mtim.tv_nsec);
  return static_cast<std::uint64_t>(its.st_ino) ^ made;
}

/// Throws if a server with these options could never answer.
inline void check_options(const http_options& o) {
  const auto at_least = [](const char* name, std::int64_t value, std::int64_t least, const char* unit) {
    if (value >= least) return;
    throw error(std::string("manta: serve::http: .") + name + " is " + std::to_string(value) + unit +
                "; at least " + std::to_string(least) + " is needed");
  };
  if (o.port < 0 || o.port > 65535)
    throw error("manta: serve::http: a port is a number from 0 to 65535, not " + std::to_string(o.port));
  at_least("max_header", static_cast<std::int64_t>(o.max_header), 1, "");
  at_least("max_connections", o.max_connections, 1, "");
  at_least("max_requests", o.max_requests, 1, "");
  at_least("request_time", o.request_time.count(), 1, " ms");
  at_least("idle_time", o.idle_time.count(), 1, " ms");
  at_least("answer_time", o.answer_time.count(), 1, " ms");
  at_least("drain_time", o.drain_time.count(), 0, " ms");
  const auto cannot_be_sent = [&](const char& c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || (c == ' ' && &c == &o.token.back());
  };
  if (std::any_of(o.token.begin(), o.token.end(), cannot_be_sent)) {
    throw error(
        "manta: serve::http: .token has a line break, another control character or a space at its end, which no client "
        "can send in a header; std::getline reads a line of a file without its end");
  }
  for (const std::string& host : o.hosts) {
    if (host.find_first_of(":/") != std::string::npos)
      throw error("manta: serve::http: .hosts has names alone, without scheme and port; it has \"" + host + "\"");
  }
}

MANTA_DECL http_server::http_server(http_options options) : options_(std::move(options)) {
  check_options(options_);
  if (!options_.files.empty() && !std::filesystem::is_directory(options_.files)) {
    throw error("manta: serve::http: there is no folder " + options_.files + ", which .files names");
  }
  const std::vector<int> before = event_descriptors();
  base_ = ::event_base_new();
  descriptor_ = find_descriptor(before);
  http_ = base_ != nullptr ? ::evhttp_new(base_) : nullptr;
  if (http_ == nullptr) throw error("manta: serve::http: libevent cannot start");
  ::evhttp_set_max_headers_size(http_, static_cast<ev_ssize_t>(options_.max_header));
  ::evhttp_set_max_body_size(http_, static_cast<ev_ssize_t>(options_.max_body));
  ::evhttp_set_timeout(http_, static_cast<int>(std::max<std::int64_t>(1, in_ns(options_.idle_time) / 1'000'000'000)));
  ::evhttp_set_allowed_methods(http_, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |
                                          EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
  ::evhttp_set_bevcb(http_, &http_server::accept, this);
  ::evhttp_set_gencb(http_, &http_server::request_came, this);
  ::evhttp_set_default_content_type(http_, nullptr);
  options_.socket.empty() ? listen_on_port() : listen_on_socket();
  started_ = clock_ns();
}

MANTA_DECL http_server::~http_server() {
  watcher_.watch_descriptor(-1);
  for (auto& [id, x] : exchanges_)
    ::evhttp_connection_set_closecb(::evhttp_request_get_connection(x.request), nullptr, nullptr);
  if (http_ != nullptr) ::evhttp_free(http_);
  for (auto& [stream, each] : connections_) ::bufferevent_decref(stream);
  if (base_ != nullptr) ::event_base_free(base_);
  if (!socket_.empty() && socket_number(socket_) == socket_file_) ::unlink(socket_.c_str());
}

MANTA_DECL void http_server::listen_on_port() {
  bound_ = ::evhttp_bind_socket_with_handle(http_, options_.address.c_str(), static_cast<ev_uint16_t>(options_.port));
  if (bound_ == nullptr) {
    const int why = errno;
    throw error("manta: serve::http: cannot listen on " + options_.address + ":" + std::to_string(options_.port) +
                ": " + std::strerror(why) +
                (why == EADDRINUSE || why == EACCES
                     ? "; .port = 0 lets the system choose one that is free"
                     : "; .address is an address or a name of this machine, such as 127.0.0.1, or 0.0.0.0 for all"));
  }
  sockaddr_storage place{};
  socklen_t length = sizeof place;
  if (::getsockname(::evhttp_bound_socket_get_fd(bound_), reinterpret_cast<sockaddr*>(&place), &length) == 0) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(place);
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(place);
    port_ = ntohs(place.ss_family == AF_INET6 ? v6.sin6_port : v4.sin_port);
  }
}

/// A socket that nobody answers on any more is replaced.
MANTA_DECL void http_server::listen_on_socket() {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  if (options_.socket.size() >= sizeof place.sun_path) {
    throw error("manta: serve::http: the path of a Unix socket has at most " +
                std::to_string(sizeof place.sun_path - 1) + " bytes; this one is longer: " + options_.socket);
  }
  std::memcpy(place.sun_path, options_.socket.c_str(), options_.socket.size() + 1);
  const auto* const address = reinterpret_cast<const sockaddr*>(&place);
  struct stat present {};
  if (::lstat(place.sun_path, &present) == 0 && S_ISSOCK(present.st_mode)) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answers = ::connect(probe, address, sizeof place) == 0;
    ::close(probe);
    if (answers) {
      throw error("manta: serve::http: another process answers on the socket " + options_.socket +
                  "; end it, or choose another path");
    }
    ::unlink(place.sun_path);
  }
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t mask = ::umask(0177);
  const bool bound = ::bind(listener, address, sizeof place) == 0;
  const int why = errno;
  ::umask(mask);
  if (!bound || ::listen(listener, SOMAXCONN) != 0) {
    ::close(listener);
    throw error("manta: serve::http: cannot listen on " + options_.socket + ": " + std::strerror(why));
  }
  socket_ = options_.socket;
  socket_file_ = socket_number(socket_);
  bound_ = ::evhttp_accept_socket_with_handle(http_, listener);
}

MANTA_DECL std::string http_server::url() const {
  if (!socket_.empty()) return "unix:" + socket_;
  const bool v6 = options_.address.find(':') != std::string::npos;
  const bool any = options_.address == "0.0.0.0" || options_.address == "::";
  char name[256] = "localhost";
  if (any) ::gethostname(name, sizeof name - 1);
  return (options_.tls ? "https://" : "http://") +
         (any  ? std::string(name)
          : v6 ? "[" + options_.address + "]"
               : options_.address) +
         ":" + std::to_string(port_);
}

// --- connections

/// The stream of a new connection. It is kept beside libevent, which would not say that it has gone. Its descriptor is
/// closed with it: were it closed before, the next connection had the same number, and the events of both.
MANTA_DECL bufferevent* http_server::accept(event_base* base, void* self) {
  auto& server = *static_cast<http_server*>(self);
  bufferevent* const stream = server.options_.tls ? server.options_.tls->accept(base)
                                                  : ::bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
  if (stream == nullptr) return nullptr;
  ::bufferevent_incref(stream);
  auto made = std::make_unique<connection>(connection{&server, stream});
  made->began = clock_ns();  // a connection without a request is to go, too
  ::evbuffer_add_cb(::bufferevent_get_input(stream), &http_server::input_came, made.get());
  ::evbuffer_add_cb(::bufferevent_get_output(stream), &http_server::output_added, made.get());
  constexpr std::size_t some = 64 * 1024;
  ::bufferevent_setwatermark(
      stream, EV_READ, 0, server.options_.max_header + server.options_.max_body + some);  // the most that is read ahead
  server.connections_.emplace(stream, std::move(made));
  if (static_cast<int>(server.connections_.size()) >= server.options_.max_connections) server.sweep();
  return stream;
}

MANTA_DECL void http_server::input_came(evbuffer*, const evbuffer_cb_info* info, void* from) {
  auto& c = *static_cast<connection*>(from);
  if (info->n_added > 0 && c.began == 0 && c.exchange == 0) c.began = clock_ns();
}

/// libevent answers what it cannot read by itself, and then closes the connection; it must not read on, or it would
/// answer each further piece of it.
MANTA_DECL void http_server::output_added(evbuffer* out, const evbuffer_cb_info* info, void* from) {
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
MANTA_DECL void http_server::linger(connection& c) {
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

/// A client that has gone, or whose connection has failed, while its request was being answered: nobody waits for that
/// any more.
MANTA_DECL void http_server::connection_closed(evhttp_connection*, void* from) {
  auto& c = *static_cast<connection*>(from);
  const auto at = c.server->exchanges_.find(c.exchange);
  c.exchange = 0;
  if (at == c.server->exchanges_.end()) return;
  const exchange gone = c.server->take_out(at->first);
  ++c.server->figures_[gone.at].answers[499];
  gone.work->abandon();
}

MANTA_DECL connection* http_server::connection_of(evhttp_request* request) {
  const auto at = connections_.find(::evhttp_connection_get_bufferevent(::evhttp_request_get_connection(request)));
  return at == connections_.end() ? nullptr : at->second.get();
}

/// libevent has freed its side: it takes its functions away then.
inline bool is_closed(const connection& c) {
  bufferevent_event_cb events = nullptr;
  bufferevent_data_cb in = nullptr, out = nullptr;
  void* argument = nullptr;
  ::bufferevent_getcb(c.stream, &in, &out, &events, &argument);
  const bool is_new = ::bufferevent_getfd(c.stream) < 0 && clock_ns() - c.began < 1'000'000'000;
  return events == nullptr && !is_new;
}

/// Forgets connections that are closed, closes those whose request takes too long to come, and pauses where there are
/// too many.
MANTA_DECL void http_server::sweep() {
  const std::int64_t now = clock_ns();
  swept_ = now;
  for (auto at = connections_.begin(); at != connections_.end();) {
    connection& c = *at->second;
    if (is_closed(c) && std::exchange(c.refused, false) && !options_.tls) linger(c);
    if (is_closed(c)) {
      ::evbuffer_remove_cb(::bufferevent_get_input(c.stream), &http_server::input_came, &c);
      ::evbuffer_remove_cb(::bufferevent_get_output(c.stream), &http_server::output_added, &c);
      ::bufferevent_decref(c.stream);
      at = connections_.erase(at);
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
  const bool full = static_cast<int>(connections_.size()) >= options_.max_connections;
  if (bound_ != nullptr && full != paused_) {
    evconnlistener* const listener = ::evhttp_bound_socket_get_listener(bound_);
    full ? ::evconnlistener_disable(listener) : ::evconnlistener_enable(listener);
    paused_ = full;
  }
}

// --- the loop

/// A Ctrl-C reaches all ranks; those of replicas have to live until the server has answered.
inline void ignore_interrupt() {
  struct sigaction present {};
  if (::sigaction(SIGINT, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGINT, SIG_IGN);
}

MANTA_DECL void http_server::begin() {
  if (interrupts_.has_begun()) return;
  std::vector<future<void>> told;
  for (int r = 0; r < manta::size(); ++r) {
    if (r != manta::rank()) told.push_back(async<ignore_interrupt>({.rank = r}));
  }
  for (const future<void>& each : told) each.wait_for(std::chrono::seconds(2));  // a rank may be in a long task
  struct sigaction present {};
  if (::sigaction(SIGPIPE, nullptr, &present) == 0 && present.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
  watcher_.watch_descriptor(descriptor_);
  interrupts_.begin();
  if (options_.quiet) return;
  std::string text = "manta: serving on " + url();
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job != nullptr && port_ != 0) {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    const std::string port = std::to_string(port_);
    text += "; from elsewhere: ssh -L " + port + ":localhost:" + port + " " + name;
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

MANTA_DECL void http_server::turn(std::chrono::nanoseconds longest) {
  ::event_base_loop(base_, EVLOOP_NONBLOCK);
  if (interrupts_.came()) drain("SIGINT has come");
  const std::int64_t now = clock_ns();
  constexpr std::int64_t tick = 200'000'000;
  if (now - swept_ > tick) {
    sweep();
    overdue();
    if (draining_.empty() && this_task::stop_requested()) drain("the run has to end");
  }
  if (has_ended()) return;
  const auto until = descriptor_ >= 0 ? std::chrono::nanoseconds(tick) : std::chrono::nanoseconds(1'000'000);
  auto id = watcher_.next(std::min(longest, until));
  while (id) {
    advance(*id);
    id = watcher_.ready() ? watcher_.next(std::chrono::nanoseconds(0)) : std::nullopt;
  }
}

MANTA_DECL void http_server::drain(const std::string& why) {
  if (!draining_.empty()) return;
  draining_ = why;
  drain_until_ = clock_ns() + in_ns(options_.drain_time);
  if (bound_ != nullptr) ::evhttp_del_accept_socket(http_, bound_);
  bound_ = nullptr;
  if (!options_.quiet) {
    std::fprintf(stderr, "manta: %s: no longer serving on %s; %zu requests are still answered\n", why.c_str(),
                 url().c_str(), exchanges_.size());
  }
}

/// Nothing is under way, and what was answered has been sent.
MANTA_DECL bool http_server::has_ended() const {
  if (draining_.empty()) return false;
  if (clock_ns() > drain_until_) return true;
  if (!exchanges_.empty()) return false;
  for (const auto& [stream, each] : connections_) {
    if (!is_closed(*each) && ::evbuffer_get_length(::bufferevent_get_output(stream)) != 0) return false;
  }
  return true;
}

}  // namespace manta::serve::detail
