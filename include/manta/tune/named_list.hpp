// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values by name, in the order in which the names came: what a configuration and
// a report have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/tune/value.hpp"

namespace manta::tune {

template <class T>
class named_list {
 public:
  using entry = std::pair<std::string, T>;

  named_list() = default;

  /// The element of that name; null if there is none.
  const T* find(std::string_view name) const {
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const entry& e) { return e.first == name; });
    return at == entries_.end() ? nullptr : &at->second;
  }
  void set(std::string_view name, T x) {
    for (entry& e : entries_) {
      if (e.first == name) {
        e.second = std::move(x);
        return;
      }
    }
    entries_.emplace_back(name, std::move(x));
  }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const named_list&, const named_list&) = default;

  /// Appends the list as JSON: {"lr":0.1,"opt":"adam"}
  void append_to(std::string& out) const {
    out += '{';
    for (const entry& e : entries_) {
      if (&e != entries_.data()) out += ',';
      value::append_quoted(out, e.first);
      out += ':';
      const value& x = e.second;
      x.append_to(out);
    }
    out += '}';
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

 protected:
  template <class Name>
  named_list(std::initializer_list<std::pair<Name, T>> entries) {
    entries_.reserve(entries.size());
    for (const auto& [name, x] : entries) set(name, x);
  }

 private:
  std::vector<entry> entries_;
};

}  // namespace manta::tune
