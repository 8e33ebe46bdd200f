// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_routes.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "manta/error.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"

namespace manta::serve::detail {

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

MANTA_DECL void route_table::add(std::unique_ptr<endpoint> e) {
  check_path(e->path);
  check_names(*e, "inputs", e->options.inputs, e->parameters, "takes");
  const std::vector<std::string>& outputs = e->options.outputs;
  check_names(*e, "outputs", outputs, e->outputs.empty() ? outputs.size() : e->outputs.size(), "gives");
  if (is_own_path(e->path))
    throw error("manta: http.route: " + e->path + " is a path that each server answers itself; choose another one");
  if (e->options.name.empty()) e->options.name = e->path.substr(1);
  for (const auto& each : routes_) {
    if (each->at->path == e->path) throw error("manta: http.route: there is a route " + e->path + " already");
    if (each->at->options.name == e->options.name && !are_one_model(*each->at, *e)) {
      throw error("manta: http.route: " + each->at->path + " and " + e->path + " would both be the model \"" +
                  e->options.name + "\" of /v2/models; give one of them another name: http.route(\"" + e->path +
                  "\", .., {.name = \"..\"})");
    }
  }
  routes_.push_back(std::make_unique<route>(route{std::move(e)}));
}

MANTA_DECL route* route_table::find(std::string_view path) const {
  for (const auto& each : routes_) {
    if (each->at->path == path) return each.get();
  }
  return nullptr;
}

MANTA_DECL route* route_table::find_model(std::string name, reply& problem) const {
  std::string version = "1";
  if (const std::size_t at = name.find("/versions/"); at != std::string::npos) {
    version = name.substr(at + 10);
    name.resize(at);
  }
  for (const auto& each : routes_) {
    if (each->at->options.name != name) continue;
    if (version == "1") return each.get();
    problem = failure(404, "the model \"" + shown(name) + "\" has the version 1 alone");
    return nullptr;
  }
  problem = failure(404, "there is no model \"" + shown(name) + "\"");
  return nullptr;
}

}  // namespace manta::serve::detail
