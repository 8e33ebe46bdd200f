// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a parameter of a configuration may be: a truth value, an integer, a
// number or a text. It converts to the type that is asked for, or says why not.
//
//   tune::value v = 3;
//   double x = v;                 // 3.0
//   std::string s = v;            // throws tune::error: it is a number
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "manta/error.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// What tune throws when it is used wrongly; the message says what to write instead.
class error : public manta::error {
 public:
  using manta::error::error;
};

/// The shortest text that reads back as the same number.
MANTA_DECL void append_number(std::string& out, double x);
MANTA_DECL void append_number(std::string& out, std::int64_t x);

class value {
 public:
  value() = default;
  value(bool b) : content_(b) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  value(I i) : content_(static_cast<std::int64_t>(i)) {}
  value(double x) : content_(x) {}
  value(std::string text) : content_(std::move(text)) {}
  value(std::string_view text) : content_(std::string(text)) {}
  value(const char* text) : content_(std::string(text)) {}

  bool is_bool() const { return std::holds_alternative<bool>(content_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(content_); }
  MANTA_DECL bool is_number() const;
  MANTA_DECL bool is_text() const;

  /// As a bool, an integer, a floating-point number, an enumeration or a string. Throws if it is of another kind, or
  /// not whole where an integer is asked for.
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, bool>) {
      if (is_bool()) return std::get<bool>(content_);
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(as<std::underlying_type_t<T>>());
    } else if constexpr (std::is_integral_v<T>) {
      if (is_integer() && std::in_range<T>(std::get<std::int64_t>(content_))) {
        return static_cast<T>(std::get<std::int64_t>(content_));
      }
      if (std::holds_alternative<double>(content_)) {
        const double x = std::get<double>(content_);
        if (x == std::floor(x) && std::abs(x) < 9e15 && std::in_range<T>(static_cast<std::int64_t>(x))) {
          return static_cast<T>(x);
        }
      }
      if (is_bool()) return static_cast<T>(std::get<bool>(content_));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (is_integer()) return static_cast<T>(std::get<std::int64_t>(content_));
      if (is_number()) return static_cast<T>(std::get<double>(content_));
    } else {
      static_assert(std::is_same_v<T, std::string>,
                    "manta: a value of a configuration is a bool, an integer, a floating-point number, an enumeration "
                    "or a std::string");
      if (is_text()) return std::get<std::string>(content_);
    }
    throw error("manta: the value " + text() + " is not " +
                (std::is_same_v<T, bool>              ? "true or false"
                 : std::is_integral_v<T>              ? "an integer in the range asked for"
                 : std::is_floating_point_v<T>        ? "a number"
                                                      : "a text") +
                "; ask for the type that the space gives it");
  }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
  operator T() const {
    return as<T>();
  }

  /// For people and for digests: 0.5, 3, true, "adam".
  MANTA_DECL std::string text() const;
  /// As JSON. What is not finite becomes a text ("nan", "inf"), for JSON has no number for it.
  MANTA_DECL void append_to(std::string& out) const;
  MANTA_DECL static void append_json_number(std::string& out, double x);
  MANTA_DECL static void append_quoted(std::string& out, std::string_view text);

  /// Integers and numbers compare by what they are worth, else the kinds must be the same.
  friend bool operator==(const value& a, const value& b) {
    if (a.is_number() && b.is_number() && a.is_integer() != b.is_integer()) return a.as<double>() == b.as<double>();
    return a.content_ == b.content_;
  }

  template <class Archive>
  void save(Archive& out) const {
    out(static_cast<std::uint8_t>(content_.index()));
    std::visit([&](const auto& x) { out(x); }, content_);
  }
  template <class Archive>
  void load(Archive& in) {
    std::uint8_t kind = 0;
    in(kind);
    if (kind == 0) load_as<bool>(in);
    if (kind == 1) load_as<std::int64_t>(in);
    if (kind == 2) load_as<double>(in);
    if (kind == 3) load_as<std::string>(in);
  }

 private:
  template <class T, class Archive>
  void load_as(Archive& in) {
    T x{};
    in(x);
    content_ = std::move(x);
  }

  std::variant<bool, std::int64_t, double, std::string> content_ = std::int64_t{0};
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/value.ipp"
#endif
