// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/serve/http.hpp"
#include "manta/serve/http_connections.ipp"
#include "manta/serve/http_exchanges.ipp"
#include "manta/serve/http_guard.ipp"
#include "manta/serve/http_listener.ipp"
#include "manta/serve/http_pages.ipp"
#include "manta/serve/http_routes.ipp"
#include "manta/serve/http_server.ipp"

namespace manta::serve {

MANTA_DECL http::http(http_options options) : server_(std::make_unique<detail::http_server>(std::move(options))) {}
MANTA_DECL http::~http() = default;
MANTA_DECL void http::add_endpoint(std::unique_ptr<detail::endpoint> e) { server_->add(std::move(e)); }
MANTA_DECL void http::run() {
  server_->begin();
  while (!server_->has_ended()) server_->turn(std::chrono::hours(1));
}
MANTA_DECL bool http::run_for_ns(std::chrono::nanoseconds time) {
  server_->begin();
  const std::int64_t end = detail::clock_ns() + time.count();
  for (std::int64_t left = time.count(); left > 0 && !server_->has_ended(); left = end - detail::clock_ns()) {
    server_->turn(std::chrono::nanoseconds(left));
  }
  return !server_->has_ended();
}
MANTA_DECL void http::stop() { server_->drain("the program has asked for it"); }
MANTA_DECL int http::port() const { return server_->port(); }
MANTA_DECL std::string http::url() const { return server_->url(); }

}  // namespace manta::serve
