// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A configuration: the values of one trial by name, in the order of the space.
// A program may read it by name, or as a struct of its own that says once how
// its members are called and where they may lie.
//
//   double lr = c["lr"];
//
//   struct settings {
//     double lr = 0;
//     int hidden = 0;
//     void describe(auto& field) {
//       field("lr", lr, tune::loguniform(1e-5, 1));
//       field("hidden", hidden, tune::integers(16, 256));
//     }
//   };
//   auto s = c.as<settings>();             // the space is tune::space_of<settings>()
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "manta/tune/named_list.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class config;

namespace detail {
/// Passed to `describe`: fills the members from a configuration; the domain does not matter then.
class member_reader {
 public:
  explicit member_reader(const config& from) : from_(from) {}
  template <class T, class... Domain>
  void operator()(std::string_view name, T& member, const Domain&...) const;

 private:
  const config& from_;
};
/// Stands for the visitor in concepts.
struct any_visitor {
  template <class T, class... Domain>
  void operator()(std::string_view, T&, const Domain&...) const {}
};
}  // namespace detail

/// A struct with a function `describe`, see above.
template <class T>
concept described = requires(T t, detail::any_visitor v) {
  t.describe(v);
};

class config : public named_list<value> {
 public:
  config() = default;
  config(std::initializer_list<entry> entries) : named_list(entries) {}

  /// The value of a parameter. Throws if there is none of that name; the error lists the names.
  MANTA_DECL const value& operator[](std::string_view name) const;
  template <class T>
  T get(std::string_view name) const {
    return (*this)[name].as<T>();
  }
  template <class T>
  T get_or(std::string_view name, T otherwise) const {
    const value* v = find(name);
    return v == nullptr ? otherwise : v->as<T>();
  }
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// Fills the program's own struct; members that the configuration does not have keep their defaults.
  template <described T>
  T as() const {
    T t{};
    detail::member_reader reader(*this);
    t.describe(reader);
    return t;
  }

  /// The configuration as text: {"lr":0.1,"opt":"adam"}
  MANTA_DECL std::string text() const;
  /// Writes text() to a stream.
  template <class Stream>
    requires requires(Stream& s, const std::string& t) { s.setf(s.flags()), s << t; }
  friend Stream& operator<<(Stream& out, const config& c) {
    out << c.text();
    return out;
  }
};

template <class T, class... Domain>
void detail::member_reader::operator()(std::string_view name, T& member, const Domain&...) const {
  const value* v = from_.find(name);
  if (v == nullptr) return;
  try {
    member = v->as<T>();
  } catch (const error& e) {
    throw error("manta: the member \"" + std::string(name) + "\": " + std::string(e.what()).substr(7));
  }
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/config.ipp"
#endif
