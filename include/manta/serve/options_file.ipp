// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of options_file.hpp.
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

#include "manta/serve/options_file.hpp"

namespace manta::serve {

namespace detail {

class option_reader {
 public:
  explicit option_reader(options& o) {
    add("name", o.name);
    add("replicas", o.replicas);
    add("max_batch", o.max_batch);
    add_time("wait_ms", o.wait);
    add("max_queue", o.max_queue);
    add("idempotent", o.idempotent);
    add("min", o.min);
    add("max", o.max);
    add("cpus", o.cpus);
    add("gpus", o.gpus);
    add("node", o.node);
    add("router_rank", o.router_rank);
    add("max_ongoing", o.max_ongoing);
    add_time("down_after_ms", o.down_after);
    add_time("health_every_ms", o.health_every);
    readers_.emplace_back("resources", [&o](json_view from) {
      std::map<std::string, double> amounts;
      json_reader().read_at("resources", amounts, from);
      o.resources = amounts;
    });
  }
  void read(json_view root) const {
    if (!root.is_object()) {
      throw json_error("expected an object with options of a deployment, or a list of such objects, not " +
                       root.describe());
    }
    for (const auto& [key, value] : root.members()) {
      const auto* const its = find(key);
      if (its == nullptr) {
        throw json_error("there is no option \"" + std::string(key) + "\"; there are " + known() +
                         (value.is_object() ? "; options of several deployments are a list: [{\"name\": \"" +
                                                  std::string(key) + "\", ..}, ..]"
                                            : ""));
      }
      (*its)(value);
    }
  }

 private:
  using reader = std::function<void(json_view)>;

  template <class T>
  void add(const char* key, T& value) {
    readers_.emplace_back(key, [key, &value](json_view from) { json_reader().read_at(key, value, from); });
  }
  template <class Duration>
  void add_time(const char* key, Duration& value) {
    readers_.emplace_back(key, [key, &value](json_view from) {
      double ms = 0;
      json_reader().read_at(key, ms, from);
      if (!(ms >= 0 && ms <= 1e12)) throw json_error(std::string(key) + ": expected milliseconds from 0 on");
      value = std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms));
    });
  }
  const reader* find(std::string_view key) const {
    for (const auto& [name, r] : readers_) {
      if (name == key) return &r;
    }
    return nullptr;
  }
  std::string known() const {
    std::string all;
    for (const auto& [name, r] : readers_) all += (all.empty() ? "" : ", ") + name;
    return all;
  }

  std::vector<std::pair<std::string, reader>> readers_;
};

/// The options of one deployment from a list: that with the name of `otherwise`. Reads all of the list, so that a
/// mistake anywhere in it is found at once.
inline options read_from_list(json_view list, const options& otherwise) {
  std::vector<std::string> names;
  std::string all;
  std::optional<options> found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto mistake = [i](const std::string& what) { return json_error("[" + std::to_string(i) + "]: " + what); };
    options o = otherwise;
    o.name.clear();
    try {
      option_reader(o).read(list.element(i));
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

}  // namespace detail

MANTA_DECL options read_options(const std::string& path, const options& otherwise) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf()))
    throw error("manta: serve::read_options: cannot read " + path + ": " + std::strerror(errno));
  options o = otherwise;
  try {
    const json_document document(text.str(), "the file");
    if (document.root().is_array()) return detail::read_from_list(document.root(), otherwise);
    detail::option_reader(o).read(document.root());
  } catch (const json_error& e) {
    throw json_error("manta: serve::read_options: " + path + ": " + e.what());
  }
  return o;
}

}  // namespace manta::serve
