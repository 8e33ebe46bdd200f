// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/serve/http.hpp"
#include "manta/serve/http_guard.ipp"
#include "manta/serve/http_pages.ipp"
#include "manta/serve/http_requests.ipp"
#include "manta/serve/http_server.ipp"

namespace manta::serve {

namespace detail {
/// One deployment may have several paths: clients of /v2 find the same by its name.
inline bool are_one_model(const endpoint& a, const endpoint& b) {
  return !a.deployment.empty() && a.deployment == b.deployment && a.options.inputs == b.options.inputs &&
         a.options.outputs == b.options.outputs;
}

MANTA_DECL void http_server::add(std::unique_ptr<endpoint> e) {
  if (e->options.inputs.size() > e->parameters) {
    throw error("manta: http.route: .inputs of " + e->path + " has " + std::to_string(e->options.inputs.size()) +
                " names, and the function takes " + std::to_string(e->parameters));
  }
  if (e->path.empty() || e->path[0] != '/')
    throw error("manta: http.route: a path begins with \"/\"; this one does not: \"" + e->path + "\"");
  if (is_own_path(e->path))
    throw error("manta: http.route: " + e->path + " is a path that each server answers itself; choose another one");
  if (e->options.name.empty()) e->options.name = e->path.substr(1);
  for (const auto& each : routes_) {
    if (each->path == e->path) throw error("manta: http.route: there is a route " + e->path + " already");
    if (each->options.name == e->options.name && !are_one_model(*each, *e)) {
      throw error("manta: http.route: " + each->path + " and " + e->path + " would both be the model \"" +
                  e->options.name + "\" of /v2/models; give one of them another name: http.route(\"" + e->path +
                  "\", .., {.name = \"..\"})");
    }
  }
  figures_[e.get()];
  routes_.push_back(std::move(e));
}
}  // namespace detail

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
