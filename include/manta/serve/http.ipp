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

/// Throws if there are more names than values, or if a name is empty or stands there twice.
inline void check_names(const endpoint& e, const char* which, const std::vector<std::string>& names, std::size_t values,
                        const char* verb) {
  const std::string where = std::string("manta: http.route: .") + which + " of " + e.path + " has ";
  if (names.size() > values) {
    throw error(where + std::to_string(names.size()) + " names, and the function " + verb + " " +
                std::to_string(values));
  }
  for (auto at = names.begin(); at != names.end(); ++at) {
    if (at->empty()) throw error(where + "an empty name");
    if (std::find(names.begin(), at, *at) != at) throw error(where + "the name \"" + *at + "\" twice");
  }
}

/// Throws if no request could have this path.
inline void check_path(const std::string& path) {
  if (path.empty() || path[0] != '/')
    throw error("manta: http.route: a path begins with \"/\"; this one does not: \"" + path + "\"");
  const auto cannot_be_in_one = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '?' || c == '#'; };
  if (std::any_of(path.begin(), path.end(), cannot_be_in_one)) {
    throw error("manta: http.route: no request has the path \"" + shown(path) +
                "\": a path has no \"?\", no \"#\" and no control characters; what follows a \"?\" is no part of it");
  }
}

MANTA_DECL void http_server::add(std::unique_ptr<endpoint> e) {
  check_path(e->path);
  check_names(*e, "inputs", e->options.inputs, e->parameters, "takes");
  const std::vector<std::string>& outputs = e->options.outputs;
  check_names(*e, "outputs", outputs, e->outputs.empty() ? outputs.size() : e->outputs.size(), "gives");
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
