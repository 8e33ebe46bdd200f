// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_listener.hpp.
#pragma once

#include <event2/listener.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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
  if (!socket_.empty() && socket_number(socket_) == socket_file_) ::unlink(socket_.c_str());
}

MANTA_DECL void http_listener::open(evhttp* http) { options_.socket.empty() ? open_port(http) : open_socket(http); }

MANTA_DECL void http_listener::pause(bool paused) {
  if (bound_ == nullptr || paused == paused_) return;
  evconnlistener* const listener = ::evhttp_bound_socket_get_listener(bound_);
  paused ? ::evconnlistener_disable(listener) : ::evconnlistener_enable(listener);
  paused_ = paused;
}

MANTA_DECL void http_listener::close(evhttp* http) {
  if (bound_ != nullptr) ::evhttp_del_accept_socket(http, bound_);
  bound_ = nullptr;
}

MANTA_DECL void http_listener::open_port(evhttp* http) {
  bound_ = ::evhttp_bind_socket_with_handle(http, options_.address.c_str(), static_cast<ev_uint16_t>(options_.port));
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

MANTA_DECL void http_listener::open_socket(evhttp* http) {
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
  bound_ = ::evhttp_accept_socket_with_handle(http, listener);
}

MANTA_DECL std::string http_listener::url() const {
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

}  // namespace manta::serve::detail
