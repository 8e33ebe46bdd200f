// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/run.hpp"
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
#include "manta/serve/http_listener.ipp"
#include "manta/serve/http_message.ipp"
#include "manta/serve/http_metrics.ipp"
#include "manta/serve/http_pages.ipp"
#include "manta/serve/http_reply.ipp"
#include "manta/serve/http_routes.ipp"
#include "manta/serve/http_server.ipp"
#include "manta/serve/http_target.ipp"
#include "manta/serve/openapi.ipp"
#include "manta/serve/request.ipp"
#include "manta/serve/status_call.ipp"

namespace manta::serve {

MANTA_DECL http::http(http_options options) : server_(std::make_unique<detail::http_server>(std::move(options))) {}
MANTA_DECL http::~http() = default;
MANTA_DECL void http::add_endpoint(std::unique_ptr<detail::endpoint> e) { server_->add(std::move(e)); }
MANTA_DECL void http::add_status(const char* type, int status) { server_->add_status(type, status); }

MANTA_DECL std::size_t detail::rows_of_a_task(std::size_t rows) {
  const std::size_t ranks = static_cast<std::size_t>(std::max(1, manta::size() - 1));
  constexpr std::size_t for_each_rank = 4;  // so that one that is late has less left than the others
  return std::max<std::size_t>(1, (rows + for_each_rank * ranks - 1) / (for_each_rank * ranks));
}
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
