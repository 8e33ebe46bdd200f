// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of options_file.hpp.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
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
    if (!root.is_object()) throw json_error("expected an object with options of a deployment, not " + root.describe());
    for (const auto& [key, value] : root.members()) {
      const auto* const its = find(key);
      if (its == nullptr) throw json_error("there is no option \"" + std::string(key) + "\"; there are " + known());
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

}  // namespace detail

MANTA_DECL options read_options(const std::string& path, const options& otherwise) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf()))
    throw error("manta: serve::read_options: cannot read " + path + ": " + std::strerror(errno));
  options o = otherwise;
  try {
    const json_document document(text.str(), "the file");
    detail::option_reader(o).read(document.root());
  } catch (const json_error& e) {
    throw json_error("manta: serve::read_options: " + path + ": " + e.what());
  }
  return o;
}

}  // namespace manta::serve
