// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The settings of a server of HTTP.
#pragma once

#include "manta/base/config.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

struct bufferevent;  // of libevent
struct event_base;

namespace manta::serve {

namespace detail {
/// Makes the encrypted streams of new connections; see tls.hpp.
class secure_streams {
 public:
  virtual ~secure_streams() = default;
  /// Null if there is no memory.
  virtual bufferevent* accept(event_base* base) const = 0;
};
}  // namespace detail

/// Where and for whom a server is there, and its limits.
struct http_options {
  int port = 8000;                    ///< 0: the system chooses one, see http::port()
  std::string address = "127.0.0.1";  ///< "0.0.0.0": from all networks; think of `token`, then
  std::string socket = {};            ///< path of a Unix socket, instead of a port; only its owner may open it
  std::string token = {};             ///< if not empty: needed as `Authorization: Bearer TOKEN`, or as ?token=TOKEN
  std::shared_ptr<const detail::secure_streams> tls =
      {};  ///< HTTPS: serve::tls({.certificate = .., .key = ..}), see manta/serve/tls.hpp
  std::vector<std::string> hosts =
      {};                              ///< further names in `Host`, beside localhost, addresses and this machine's name
  std::string files = {};              ///< folder of files to be served; its index.html is the page /
  std::size_t max_header = 16 * 1024;  ///< bytes of request line and header fields
  std::size_t max_body = 64 * 1024 * 1024;         ///< bytes; 413 for more
  int max_connections = 1024;                      ///< open ones; further ones wait to be accepted
  int max_requests = 4096;                         ///< under way, each row of tensors counts; 503 for more
  std::chrono::milliseconds request_time{30'000};  ///< for a request to come in whole; 408
  std::chrono::milliseconds idle_time{75'000};     ///< of a connection without requests
  std::chrono::milliseconds answer_time{300'000};  ///< for a deployment to answer; 504
  std::chrono::milliseconds drain_time{20'000};    ///< for what is under way when the server is to end
  bool quiet = false;                              ///< does not say where it is
};

}  // namespace manta::serve
