// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trial reports: numbers by name.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/tune/value.hpp"

namespace manta::tune {

class metrics {
 public:
  using entry = std::pair<std::string, double>;

  metrics() = default;
  metrics(std::initializer_list<std::pair<std::string_view, double>> entries) {
    entries_.reserve(entries.size());
    for (const auto& [name, x] : entries) set(name, x);
  }

  void set(std::string_view name, double x) {
    for (entry& e : entries_) {
      if (e.first == name) {
        e.second = x;
        return;
      }
    }
    entries_.emplace_back(name, x);
  }
  const double* find(std::string_view name) const {
    for (const entry& e : entries_) {
      if (e.first == name) return &e.second;
    }
    return nullptr;
  }
  /// Throws if there is none of that name.
  double operator[](std::string_view name) const {
    if (const double* x = find(name)) return *x;
    throw error("manta: \"" + std::string(name) + "\" was not reported; there is " + names());
  }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const metrics&, const metrics&) = default;

  /// {"loss":0.25,"accuracy":0.9}
  void append_to(std::string& out) const {
    out += '{';
    for (const entry& e : entries_) {
      if (&e != entries_.data()) out += ',';
      value::append_quoted(out, e.first);
      out += ':';
      value::append_json_number(out, e.second);
    }
    out += '}';
  }
  std::string names() const {
    std::string all;
    for (const entry& e : entries_) all += (all.empty() ? "\"" : ", \"") + e.first + "\"";
    return all.empty() ? "nothing" : all;
  }

  template <class Archive>
  void save(Archive& out) const {
    out(static_cast<std::uint32_t>(entries_.size()));
    for (const entry& e : entries_) out(e.first, e.second);
  }
  template <class Archive>
  void load(Archive& in) {
    std::uint32_t count = 0;
    in(count);
    entries_.resize(count);
    for (entry& e : entries_) in(e.first, e.second);
  }

 private:
  std::vector<entry> entries_;
};

}  // namespace manta::tune
