// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The servers on other ranks that http_options::ranks asks for: an actor on each of these ranks has one. They get the
// routes as the program gives them, begin and end with the first server, and answer beside it.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/serve/http_handle.hpp"
#include "manta/serve/http_options.hpp"

namespace manta::serve::detail {

class http_server;

/// Options on their way to another rank: all but `tls` and `compression`.
struct sent_http_options {
  http_options its = {};
  template <class Archive>
  void serialize(Archive& archive) {
    std::int64_t times[] = {its.request_time.count(), its.idle_time.count(), its.answer_time.count(),
                            its.drain_time.count()};
    archive(its.port, its.address, its.socket, its.token, its.hosts, its.files, its.max_header, its.max_body,
            its.max_connections, its.max_requests, times[0], times[1], times[2], times[3], its.quiet, its.max_bodies,
            its.cors, its.no_replicas, its.open_health, its.detailed_errors, its.request_ids, its.access_log,
            its.log_as_json);
    using ms = std::chrono::milliseconds;
    its.request_time = ms(times[0]), its.idle_time = ms(times[1]);
    its.answer_time = ms(times[2]), its.drain_time = ms(times[3]);
  }
};
/// A route on its way to another rank.
struct sent_route {
  std::string path = {}, type = {};
  std::vector<handle_parts> parts = {};  ///< parts of a deployment's handle
  route_options options = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(path, type, parts, options.name, options.inputs, options.outputs, options.methods, options.summary,
            options.description, options.example);
  }
};

/// A server on another rank.
class http_peer {
 public:
  MANTA_DECL explicit http_peer(const sent_http_options& o);
  MANTA_DECL ~http_peer();

  MANTA_DECL void add(const sent_route& r);
  MANTA_DECL void add_status(const std::string& type, int status);
  /// Serves until stop(), or until its rank is told to end.
  MANTA_DECL void run();
  MANTA_DECL void stop();
  /// The figures of this server, in JSON.
  [[nodiscard]] MANTA_DECL std::string state() const;

 private:
  std::unique_ptr<http_server> server_;
};

class http_peers {
 public:
  /// Starts the servers, and waits. Throws manta::error if one cannot listen, or if the options cannot be sent.
  MANTA_DECL explicit http_peers(const http_options& o);
  http_peers(const http_peers&) = delete;
  http_peers& operator=(const http_peers&) = delete;

  /// Waits for all. Throws what a server threw.
  MANTA_DECL void add(const std::string& path, const route_options& o, const char* type,
                      std::vector<handle_parts> parts);
  MANTA_DECL void add_status(const char* type, int status);
  MANTA_DECL void begin();
  /// Lets all drain, and waits for them.
  MANTA_DECL void end();
  /// The figures of each server, in JSON.
  [[nodiscard]] MANTA_DECL std::vector<future<std::string>> ask() const;

 private:
  std::vector<actor<http_peer>> all_;
  std::vector<future<void>> running_;
  std::chrono::milliseconds patience_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_peers.ipp"
#endif
