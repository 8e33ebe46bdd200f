// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/serve/http_listener.hpp"

namespace manta::serve::detail {

/// Tells the file of a socket from one that another job has made in its place since; 0: there is none.
inline std::uint64_t socket_number(const std::string& path) {
  struct stat its {};
  if (::lstat(path.c_str(), &its) != 0 || !S_ISSOCK(its.st_mode)) return 0;
  const auto made = static_cast<std::uint64_t>(its.st_mtim.tv_sec * 1'000'000'000 + its.st_mtim.tv_nsec);
  return static_cast<std::uint64_t>(its.st_ino) ^ made;
}

MANTA_DECL http_listener::~http_listener() {
  close();
  if (!socket_.empty() && socket_number(socket_) == socket_file_) ::unlink(socket_.c_str());
}

MANTA_DECL void http_listener::open(event_set& events, event_handler& handler) {
  options_.socket.empty() ? open_port() : open_socket();
  events_ = &events;
  handler_ = &handler;
  events_->add(listener_, EPOLLIN, handler);
}

MANTA_DECL void http_listener::pause(bool paused) {
  if (listener_ < 0 || paused == paused_) return;
  events_->change(listener_, paused ? 0U : std::uint32_t{EPOLLIN}, *handler_);
  paused_ = paused;
}

MANTA_DECL void http_listener::close() {
  if (listener_ >= 0) ::close(std::exchange(listener_, -1));
}

inline std::string address_in_words(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(from).sin_addr, text, sizeof text);
  } else if (from.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, text, sizeof text);
  } else {
    return "unix";
  }
  return text;
}

MANTA_DECL int http_listener::accept(std::string& peer) const {
  if (listener_ < 0) return -1;
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  const int socket = ::accept4(listener_, reinterpret_cast<sockaddr*>(&from), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) return -1;
  if (options_.socket.empty()) {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  }
  peer = address_in_words(from);
  return socket;
}

/// A socket that listens at the first of these addresses that can be had; -1, and errno, if there is none.
inline int listen_at(const addrinfo* places) {
  int why = EADDRNOTAVAIL;
  for (const addrinfo* each = places; each != nullptr; each = each->ai_next) {
    const int socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket, each->ai_addr, each->ai_addrlen) == 0 && ::listen(socket, SOMAXCONN) == 0) return socket;
    why = errno;
    if (socket >= 0) ::close(socket);
  }
  errno = why;
  return -1;
}

MANTA_DECL void http_listener::open_port() {
  addrinfo wanted{}, *places = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int unknown = ::getaddrinfo(options_.address.c_str(), std::to_string(options_.port).c_str(), &wanted, &places);
  listener_ = unknown != 0 ? -1 : listen_at(places);
  const int why = errno;
  if (places != nullptr) ::freeaddrinfo(places);
  if (listener_ < 0) {
    const bool taken = unknown == 0 && (why == EADDRINUSE || why == EACCES);
    throw error(base::text("manta: serve::http: cannot listen on {}:{}: {}; {}", options_.address, options_.port,
                           unknown != 0 ? ::gai_strerror(unknown) : std::strerror(why),
                           taken ? ".port = 0 lets the system choose one that is free"
                                 : ".address is an address or a name of this machine, such as 127.0.0.1, or 0.0.0.0 "
                                   "for all"));
  }
  sockaddr_storage place{};
  socklen_t length = sizeof place;
  if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &length) == 0) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(place);
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(place);
    port_ = ntohs(place.ss_family == AF_INET6 ? v6.sin6_port : v4.sin_port);
  }
}

MANTA_DECL void http_listener::open_socket() {
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  if (options_.socket.size() >= sizeof place.sun_path) {
    throw error(base::text("manta: serve::http: the path of a Unix socket has at most {} bytes; this one is longer: {}",
                           sizeof place.sun_path - 1, options_.socket));
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
  listener_ = listener;
}

MANTA_DECL std::string http_listener::url() const {
  if (!socket_.empty()) return "unix:" + socket_;
  const bool v6 = options_.address.find(':') != std::string::npos;
  const bool any = options_.address == "0.0.0.0" || options_.address == "::";
  char name[256] = "localhost";
  if (any) ::gethostname(name, sizeof name - 1);
  return base::text("{}{}:{}", options_.tls ? "https://" : "http://",
                    any  ? std::string(name)
                    : v6 ? "[" + options_.address + "]"
                         : options_.address,
                    port_);
}

}  // namespace manta::serve::detail
