// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"

namespace manta::serve::detail {

MANTA_DECL void figures::note(int status, double took) {
  std::size_t bucket = 0;
  while (bucket < bounds.size() && took > bounds[bucket]) ++bucket;
  ++within[bucket];
  ++answers[status];
  ++count;
  seconds += took;
}

MANTA_DECL double figures::quantile(double part) const {
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < within.size(); ++i) {
    seen += within[i];
    if (count != 0 && static_cast<double>(seen) >= part * static_cast<double>(count))
      return bounds[i < bounds.size() ? i : bounds.size() - 1];
  }
  return 0;
}

// --- one route

MANTA_DECL std::vector<std::string> all_methods(const endpoint& e) {
  if (e.options.methods.empty()) {
    if (!e.may_get) return {"POST"};
    return {"GET", "HEAD", "POST"};
  }
  std::vector<std::string> all = e.options.methods;
  const auto has = [&](const char* name) { return std::find(all.begin(), all.end(), name) != all.end(); };
  if (has("GET") && !has("HEAD")) all.emplace_back("HEAD");
  return all;
}

MANTA_DECL bool route::takes(std::string_view method) const {
  const std::vector<std::string>& given = at->options.methods;
  if (given.empty()) return method == "POST" || (at->may_get && (method == "GET" || method == "HEAD"));
  const auto has = [&](std::string_view name) { return std::find(given.begin(), given.end(), name) != given.end(); };
  return has(method) || (method == "HEAD" && has("GET"));
}

MANTA_DECL std::string route::methods() const {
  std::string text;
  for (const std::string& each : all_methods(*at)) text += (text.empty() ? "" : ", ") + each;
  return text;
}

inline std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> all;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    all.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return all;
}
inline bool is_name(const std::string& segment) { return segment.starts_with('{') && segment.ends_with('}'); }

/// What stands in the places of the names; nothing if the path is another one.
inline bool match(const std::vector<std::string>& pattern, const std::vector<std::string>& path, text_pairs& out) {
  if (pattern.size() != path.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_name(pattern[i])) {
      if (pattern[i] != path[i]) return false;
    } else if (path[i].empty()) {
      return false;
    } else {
      out.emplace_back(pattern[i].substr(1, pattern[i].size() - 2), path[i]);
    }
  }
  return true;
}

// --- what routes must not be

/// One deployment may have several paths: clients of /v2 find the same by its name.
inline bool are_one_model(const endpoint& a, const endpoint& b) {
  return !a.deployment_name.empty() && a.deployment_name == b.deployment_name && a.options.inputs == b.options.inputs &&
         a.options.outputs == b.options.outputs;
}

/// Throws if there are more names than values, or if a name is empty or stands there twice.
inline void check_names(const endpoint& e, const char* which, const std::vector<std::string>& names, std::size_t values,
                        const char* verb) {
  const std::string where = base::text("manta: http.route: .{} of {} has ", which, e.path);
  if (names.size() > values)
    throw error(where + base::text("{} names, and the function {} {}", names.size(), verb, values));
  for (auto at = names.begin(); at != names.end(); ++at) {
    if (at->empty()) throw error(where + "an empty name");
    if (std::find(names.begin(), at, *at) != at) throw error(where + base::text("the name \"{}\" twice", *at));
  }
}

/// Throws if no request could have this path.
inline void check_path(const endpoint& e) {
  const std::string& path = e.path;
  if (path.empty() || path[0] != '/')
    throw error(base::text("manta: http.route: a path begins with \"/\"; this one does not: \"{}\"", path));
  const auto cannot_be_in_one = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '?' || c == '#'; };
  if (std::any_of(path.begin(), path.end(), cannot_be_in_one)) {
    throw error(
        base::text("manta: http.route: no request has the path \"{}\": a path has no \"?\", no \"#\" and no "
                   "control characters; what follows a \"?\" is no part of it",
                   shown(path)));
  }
  for (const std::string& segment : segments_of(path)) {
    if (segment.find_first_of("{}") == std::string::npos) continue;
    const std::string name = segment.size() > 2 ? segment.substr(1, segment.size() - 2) : "";
    if (!is_name(segment) || name.empty() || name.find_first_of("{}") != std::string::npos)
      throw error(
          base::text("manta: http.route: in the path \"{}\", a name in braces is a whole segment, \"/items/{id}\"; "
                     "\"{}\" is none",
                     shown(path), segment));
    const auto& names = e.options.inputs;
    if (!e.takes_request && std::find(names.begin(), names.end(), name) == names.end())
      throw error(
          base::text("manta: http.route: the path {} names \"{}\", which is no parameter of the function; "
                     ".inputs gives the parameters their names",
                     path, name));
  }
}

inline void check_methods(const endpoint& e) {
  for (const std::string& each : e.options.methods) {
    constexpr std::string_view known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
    if (std::find(std::begin(known), std::end(known), each) == std::end(known))
      throw error(
          base::text("manta: http.route: .methods of {} has \"{}\"; there are GET, HEAD, POST, PUT, PATCH and "
                     "DELETE",
                     e.path, shown(each)));
  }
}

// --- the table

inline void route_table::refuse_if_taken(const endpoint& e) const {
  const std::vector<std::string> methods = all_methods(e);
  for (const auto& each : routes_) {
    const endpoint& there = *each->at;
    const auto is_taken = [&](const std::string& method) { return each->takes(method); };
    if (there.path == e.path && std::any_of(methods.begin(), methods.end(), is_taken))
      throw error(base::text("manta: http.route: there is a route {} already", e.path));
    if (there.path != e.path && there.options.name == e.options.name && !are_one_model(there, e)) {
      throw error(
          base::text("manta: http.route: {} and {} would both be the model \"{}\" of /v2/models; give one of "
                     "them another name: http.route(\"{}\", .., {.name = \"..\"})",
                     there.path, e.path, e.options.name, e.path));
    }
  }
}

MANTA_DECL void route_table::add(std::unique_ptr<endpoint> e) {
  check_names(*e, "inputs", e->options.inputs, e->values.size(), "takes");
  const std::vector<std::string>& outputs = e->options.outputs;
  check_names(*e, "outputs", outputs, e->outputs.empty() ? outputs.size() : e->outputs.size(), "gives");
  check_path(*e);
  check_methods(*e);
  if (is_own_path(e->path)) {
    throw error(
        base::text("manta: http.route: {} is a path that each server answers itself; choose another one", e->path));
  }
  if (e->options.name.empty()) e->options.name = e->path.substr(1);
  refuse_if_taken(*e);
  const bool is_pattern = e->path.find('{') != std::string::npos;
  routes_.push_back(std::make_unique<route>(route{std::move(e)}));
  route& added = *routes_.back();
  if (is_pattern) {
    added.segments = segments_of(added.at->path);
    patterns_.push_back(&added);
  } else {
    plain_[added.at->path].push_back(&added);
  }
}

MANTA_DECL found_route route_table::find(const std::string& path, std::string_view method) const {
  found_route found;
  const auto look_at = [&](route* each) {
    if (each->takes(method)) found.at = each;
    found.allowed += (found.allowed.empty() ? "" : ", ") + each->methods();
  };
  if (const auto plain = plain_.find(path); plain != plain_.end()) {
    for (route* const each : plain->second) {
      if (each->takes(method)) return {each};  // nothing else is to be known
      look_at(each);
    }
    return found;
  }
  if (patterns_.empty() || !path.starts_with('/')) return found;
  const std::vector<std::string> segments = segments_of(path);
  for (route* const each : patterns_) {
    text_pairs parameters;
    if (!match(each->segments, segments, parameters)) continue;
    look_at(each);
    found.parameters = std::move(parameters);
    if (found.at != nullptr) break;
  }
  return found;
}

MANTA_DECL found_model route_table::find_model(std::string name) const {
  found_model found;
  if (const std::size_t at = name.find("/versions/"); at != std::string::npos) {
    const std::string version = name.substr(at + 10);
    name.resize(at);
    const char* const end = version.data() + version.size();
    const auto [read, problem] = std::from_chars(version.data(), end, found.version);
    if (problem != std::errc() || read != end || found.version < 1) {
      found.problem = failure(404, base::text("the model \"{}\" has no version \"{}\"; versions are 1, 2, ..",
                                              shown(name), shown(version)));
      return found;
    }
  }
  for (const auto& each : routes_) {
    if (each->at->options.name != name) continue;
    if (found.version > 1 && !each->at->deployment.valid()) {
      found.problem = failure(404, base::text("the model \"{}\" has the version 1 alone", shown(name)));
      return found;
    }
    found.at = each.get();
    return found;
  }
  found.problem = failure(404, base::text("there is no model \"{}\"", shown(name)));
  return found;
}

}  // namespace manta::serve::detail
