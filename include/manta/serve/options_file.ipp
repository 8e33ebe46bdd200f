// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/serve/options_file.hpp"

namespace manta::serve {

namespace detail {

/// Options by their keys in a file.
class option_reader {
 public:
  /// `of`: what has the options, in words.
  explicit option_reader(const char* of) : of_(of) {}

  template <class T>
  void add(const char* key, T& value) {
    readers_.emplace_back(key, [key, &value](json_view from) { json_reader().read_at(key, value, from); });
  }
  template <class Duration>
  void add_time(const char* key, Duration& value) {
    readers_.emplace_back(key, [key, &value](json_view from) {
      double ms = 0;
      json_reader().read_at(key, ms, from);
      if (!(ms >= 0 && ms <= 1e12)) throw json_error(base::text("{}: expected milliseconds from 0 on", key));
      value = std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms));
    });
  }
  void add_resources(const char* key, graph::quantities& value) {
    readers_.emplace_back(key, [key, &value](json_view from) {
      std::map<std::string, double> amounts;
      json_reader().read_at(key, amounts, from);
      value = amounts;
    });
  }
  void read(json_view root) const {
    if (!root.is_object()) throw json_error(base::text("expected an object with {}, not {}", of_, root.describe()));
    for (const auto& [key, value] : root.members()) {
      const auto* const its = find(key);
      if (its == nullptr) throw json_error(unknown(key, value.is_object()));
      (*its)(value);
    }
  }

 private:
  using reader = std::function<void(json_view)>;

  [[nodiscard]] const reader* find(std::string_view key) const {
    for (const auto& [name, r] : readers_) {
      if (name == key) return &r;
    }
    return nullptr;
  }
  [[nodiscard]] std::string unknown(std::string_view key, bool is_object) const {
    std::string all;
    for (const auto& [name, r] : readers_) all += (all.empty() ? "" : ", ") + name;
    std::string text = base::text("there is no option \"{}\"; there are {}", key, all);
    if (is_object) text += base::text("; options of several deployments are a list: [{\"name\": \"{}\", ..}, ..]", key);
    return text;
  }

  const char* of_;
  std::vector<std::pair<std::string, reader>> readers_;
};

inline void read_deployment(options& o, json_view from) {
  option_reader all("options of a deployment, or a list of such objects");
  all.add("name", o.name);
  all.add("replicas", o.replicas);
  all.add("max_batch", o.max_batch);
  all.add_time("wait_ms", o.wait);
  all.add("max_queue", o.max_queue);
  all.add("idempotent", o.idempotent);
  all.add("min", o.min);
  all.add("max", o.max);
  all.add("from_zero", o.from_zero);
  all.add("cpus", o.cpus);
  all.add("gpus", o.gpus);
  all.add("node", o.node);
  all.add("router_rank", o.router_rank);
  all.add("max_ongoing", o.max_ongoing);
  all.add_time("down_after_ms", o.down_after);
  all.add_time("health_every_ms", o.health_every);
  all.add_time("health_timeout_ms", o.health_timeout);
  std::chrono::milliseconds timeout = o.timeout;
  all.add_time("timeout_ms", timeout);
  all.add_time("drain_time_ms", o.drain_time);
  all.add("wave", o.wave);
  all.add_resources("resources", o.resources);
  bool isolate = o.isolate;
  all.add("isolate", isolate);
  all.read(from);
  set_isolated(o.isolate, isolate);
  o.timeout = call_timeout::from_number(timeout);
}

inline void read_server(http_options& o, json_view from) {
  option_reader all("options of a server");
  all.add("port", o.port);
  all.add("address", o.address);
  all.add("socket", o.socket);
  all.add("token", o.token);
  all.add("hosts", o.hosts);
  all.add("files", o.files);
  all.add("max_header", o.max_header);
  all.add("max_body", o.max_body);
  all.add("max_bodies", o.max_bodies);
  all.add("max_connections", o.max_connections);
  all.add("max_requests", o.max_requests);
  all.add_time("request_time_ms", o.request_time);
  all.add_time("idle_time_ms", o.idle_time);
  all.add_time("answer_time_ms", o.answer_time);
  all.add_time("drain_time_ms", o.drain_time);
  all.add("quiet", o.quiet);
  all.add("cors", o.cors);
  all.add("ranks", o.ranks);
  all.add("no_replicas", o.no_replicas);
  all.add("open_health", o.open_health);
  all.add("detailed_errors", o.detailed_errors);
  all.add("request_ids", o.request_ids);
  all.add("access_log", o.access_log);
  all.add("log_as_json", o.log_as_json);
  all.read(from);
}

/// The options of one deployment from a list: that with the name of `otherwise`. Reads all of the list, so that a
/// mistake anywhere in it is found at once.
inline options read_from_list(json_view list, const options& otherwise) {
  std::vector<std::string> names;
  std::string all;
  std::optional<options> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto mistake = [i](const std::string& what) { return json_error(base::text("[{}]: {}", i, what)); };
    options o = otherwise;
    o.name.clear();
    try {
      read_deployment(o, list.element(i));
    } catch (const json_error& e) {
      throw mistake(e.what());
    }
    if (o.name.empty()) throw mistake("name is missing: in a list it says which deployment the options are for");
    if (std::find(names.begin(), names.end(), o.name) != names.end())
      throw mistake("there are options of \"" + o.name + "\" already");
    all += (all.empty() ? "\"" : ", \"") + o.name + "\"";
    names.push_back(o.name);
    if (o.name == otherwise.name) found = std::move(o);
  }
  if (found) return *found;
  const std::string there = all.empty() ? "; the list is empty" : "; there are those of " + all;
  if (!otherwise.name.empty()) throw json_error("there are no options of \"" + otherwise.name + "\"" + there);
  throw json_error("the file is a list; say which options are meant: read_options(file, {.name = ..})" + there);
}

/// The text of a file, read by `read`, whose errors then name the file.
template <class Read>
void read_file(const char* function, const std::string& path, Read read) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf()))
    throw error(base::text("manta: serve::{}: cannot read {}: {}", function, path, std::strerror(errno)));
  try {
    const json_document document(text.str(), "the file");
    read(document.root());
  } catch (const json_error& e) {
    throw json_error(base::text("manta: serve::{}: {}: {}", function, path, e.what()));
  }
}

/// Whether a file is for a whole application. Throws if it has a part that no application has.
inline bool is_application(json_view root) {
  if (!root.is_object() || (!root.member("http").exists() && !root.member("deployments").exists())) return false;
  for (const auto& [key, value] : root.members()) {
    if (key != "http" && key != "deployments")
      throw json_error(base::text("there is no part \"{}\" of an application; there are http and deployments", key));
  }
  return true;
}

}  // namespace detail

MANTA_DECL options detail::read_options_file(const std::string& path, const options& otherwise) {
  options o = otherwise;
  detail::read_file("read_options", path, [&](json_view root) {
    const json_view from = detail::is_application(root) ? root.member("deployments") : root;
    if (from.is_array()) {
      o = detail::read_from_list(from, otherwise);
    } else {
      detail::read_deployment(o, from);
    }
  });
  return o;
}

MANTA_DECL http_options read_http_options(const std::string& path, const http_options& otherwise) {
  http_options o = otherwise;
  detail::read_file("read_http_options", path, [&](json_view root) {
    if (!detail::is_application(root)) throw json_error("expected an object with the parts http and deployments");
    if (const json_view from = root.member("http"); from.exists()) detail::read_server(o, from);
  });
  return o;
}

}  // namespace manta::serve
