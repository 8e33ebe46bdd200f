// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/access_log.ipp"
#include "manta/serve/arguments.ipp"
#include "manta/serve/call.ipp"
#include "manta/serve/endpoint.ipp"
#include "manta/serve/http.hpp"
#include "manta/serve/http_connection.ipp"
#include "manta/serve/http_connections.ipp"
#include "manta/serve/http_control.ipp"
#include "manta/serve/http_events.ipp"
#include "manta/serve/http_exchanges.ipp"
#include "manta/serve/http_failures.ipp"
#include "manta/serve/http_files.ipp"
#include "manta/serve/http_guard.ipp"
#include "manta/serve/http_handle.ipp"
#include "manta/serve/http_listener.ipp"
#include "manta/serve/http_message.ipp"
#include "manta/serve/http_metrics.ipp"
#include "manta/serve/http_pages.ipp"
#include "manta/serve/http_peers.ipp"
#include "manta/serve/http_reply.ipp"
#include "manta/serve/http_routes.ipp"
#include "manta/serve/http_server.ipp"
#include "manta/serve/http_target.ipp"
#include "manta/serve/openapi.ipp"
#include "manta/serve/request.ipp"
#include "manta/serve/status_call.ipp"

namespace manta::serve {

MANTA_DECL http::http(http_options options) {
  if (!options.ranks.empty()) peers_ = std::make_unique<detail::http_peers>(options);
  server_ = std::make_unique<detail::http_server>(std::move(options));
  if (peers_) server_->ask_others([this] { return peers_->ask(); });
}
MANTA_DECL http::~http() = default;
MANTA_DECL void http::add_endpoint(std::unique_ptr<detail::endpoint> e) { server_->add(std::move(e)); }
MANTA_DECL void http::add_status(const char* type, int status) {
  server_->add_status(type, status);
  if (peers_) peers_->add_status(type, status);
}
MANTA_DECL bool http::has_peers() const { return peers_ != nullptr; }
MANTA_DECL void http::add_to_peers(const std::string& path, const route_options& o, const char* type,
                                   std::vector<detail::handle_parts> parts) {
  peers_->add(path, o, type, std::move(parts));
}
MANTA_DECL void http::refuse_to_send(const std::string& path) {
  throw error(
      base::text("manta: http.route: what {} calls cannot be sent to the servers on other ranks (.ranks): give a "
                 "deployment, a function as http.route<f>(path), or a lambda without captures",
                 path));
}

MANTA_DECL void http::begin() {
  server_->begin();
  if (peers_) peers_->begin();
}
MANTA_DECL void http::end() {
  if (peers_) peers_->end();
}
MANTA_DECL void http::run() {
  begin();
  while (!server_->has_ended()) server_->turn(std::chrono::hours(1));
  end();
}
MANTA_DECL bool http::run_for_ns(std::chrono::nanoseconds time) {
  begin();
  const std::int64_t end_ns = detail::clock_ns() + time.count();
  for (std::int64_t left = time.count(); left > 0 && !server_->has_ended(); left = end_ns - detail::clock_ns()) {
    server_->turn(std::chrono::nanoseconds(left));
  }
  if (server_->has_ended()) end();
  return !server_->has_ended();
}
MANTA_DECL void http::stop() { server_->drain("the program has asked for it"); }
MANTA_DECL int http::port() const { return server_->port(); }
MANTA_DECL std::string http::url() const { return server_->url(); }

}  // namespace manta::serve
