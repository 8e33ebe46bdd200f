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

namespace manta::serve {

namespace detail {
/// What reading or writing has come to: `bytes` above 0; or nothing for now, the end, or a broken connection.
struct stream_result {
  enum class state { done, again, ended, broken } what = state::done;
  std::size_t bytes = 0;
};
/// An encrypted connection, over a socket that does not block.
class secure_stream {
 public:
  virtual ~secure_stream() = default;
  virtual stream_result read(char* to, std::size_t size) = 0;
  virtual stream_result write(const char* from, std::size_t size) = 0;
  /// Tells the client that nothing more comes.
  virtual void end() = 0;
};
/// Compresses answers and reads compressed bodies; see gzip.hpp.
class body_compression {
 public:
  virtual ~body_compression() = default;
  [[nodiscard]] virtual std::string compressed(const std::string& body) const = 0;
  /// Expands a body into `out`. False if the body is broken. If it is too long, `out` is longer than `most` bytes.
  [[nodiscard]] virtual bool expand(const std::string& body, std::size_t most, std::string& out) const = 0;
};
/// Makes the encrypted streams of new connections; see tls.hpp.
class secure_streams {
 public:
  virtual ~secure_streams() = default;
  /// Null if there is no memory. The socket stays the caller's.
  virtual std::unique_ptr<secure_stream> accept(int socket) const = 0;
};
}  // namespace detail

/// Where and for whom a server is there, and its limits.
struct http_options {
  int port = 8000;                    ///< 0: the system chooses one, see http::port()
  std::string address = "127.0.0.1";  ///< "0.0.0.0": from all networks; think of `token`, then
  std::string socket = {};            ///< path of a Unix socket, instead of a port; only its owner may open it
  std::string token = {};             ///< if not empty: needed as `Authorization: Bearer TOKEN`, or as ?token=TOKEN
  /// HTTPS: serve::tls({.certificate = .., .key = ..}), see manta/serve/tls.hpp
  std::shared_ptr<const detail::secure_streams> tls = {};
  /// Further names in `Host`, beside localhost, addresses and this machine's name. Pages of these hosts may ask.
  std::vector<std::string> hosts = {};
  std::string files = {};                          ///< folder of files to be served; its index.html is the page /
  std::size_t max_header = 16 * 1024;              ///< bytes of request line and header fields
  std::size_t max_body = 64 * 1024 * 1024;         ///< bytes; 413 for more
  int max_connections = 1024;                      ///< open ones; for a further one, the longest idle one is closed
  int max_requests = 4096;                         ///< under way; 503 for more
  std::chrono::milliseconds request_time{30'000};  ///< time for a request to come in whole; 408
  std::chrono::milliseconds idle_time{75'000};     ///< time of a connection without requests
  std::chrono::milliseconds answer_time{300'000};  ///< time for a deployment to answer; 504
  std::chrono::milliseconds drain_time{20'000};    ///< time for what is under way when the server is to end
  bool quiet = false;                              ///< does not say where it is
  /// Bytes of the bodies of all requests that are being received or read; 503 for more.
  std::size_t max_bodies = 256 * 1024 * 1024;
  /// Origins whose pages may ask and read the answers (CORS), such as "https://app.example"; "*": all.
  std::vector<std::string> cors = {};
  /// Bodies and answers in gzip: serve::gzip(), see manta/serve/gzip.hpp. Without it, such bodies are answered 415.
  std::shared_ptr<const detail::body_compression> compression = {};
  /// Further ranks that have the same server, with the same routes: for more requests than one rank can read, behind a
  /// proxy that divides them. Their ports follow `port` on each node. One without `tls` and `compression`.
  std::vector<int> ranks = {};
  /// No replica of a deployment that has a route here may live on the server's rank. Else it may where no other rank
  /// will do, and the server answers nobody while that replica is made or works.
  bool no_replicas = false;
  bool open_health = true;       ///< /v2/health, readiness of models and /metrics need no token
  bool detailed_errors = false;  ///< clients are told ranks, hosts, paths and tracebacks too
  bool request_ids = true;       ///< each answer has the client's X-Request-Id, or a new one
  std::string access_log = {};   ///< file to which a line for each request is appended; "-": standard error
  bool log_as_json = false;      ///< these lines are objects of JSON; else in the common form of web servers
};

}  // namespace manta::serve
