// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a parameter of a configuration may be: a truth value, an integer, a
// number or a text. It converts to the type that is asked for, or says why not.
// A list, or an object of a class that cereal serialises, is the text of its JSON.
//
//   tune::value v = 3;
//   double x = v;                 // 3.0
//   std::string s = v;            // throws tune::error: it is a number
//   tune::value w = block{.width = 64, .activation = "relu"};
//   block b = w;
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/error.hpp"
#include "manta/output/json_reader.hpp"
#include "manta/output/json_writer.hpp"
#include "manta/output/row.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// The exception that tune throws when it is used wrongly; the message says what to write instead.
class error : public manta::error {
 public:
  using manta::error::error;
};

using output::append_number;

class value;

namespace detail {
template <class T>
concept plain_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool is_list = false;
template <plain_number T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
inline constexpr bool has_serialize =
    cereal::traits::has_member_serialize<T, output::json_reader>::value ||
    cereal::traits::has_non_member_serialize<T, output::json_reader>::value ||
    cereal::traits::has_member_versioned_serialize<T, output::json_reader>::value ||
    cereal::traits::has_non_member_versioned_serialize<T, output::json_reader>::value ||
    (cereal::traits::has_member_save<T, output::json_writer>::value &&
     cereal::traits::has_member_load<T, output::json_reader>::value) ||
    (cereal::traits::has_non_member_save<T, output::json_writer>::value &&
     cereal::traits::has_non_member_load<T, output::json_reader>::value);
/// A class of the user's own, or a vector of such or of texts: a value holds its JSON.
template <class T>
concept object = std::is_class_v<T> && !std::is_same_v<T, value> && !is_list<T> &&
                 !std::is_convertible_v<const T&, std::string_view> && std::is_default_constructible_v<T> &&
                 std::is_copy_constructible_v<T> && has_serialize<T>;
template <class T>
inline constexpr bool is_vector_of_objects = false;
template <class T>
inline constexpr bool is_vector_of_objects<std::vector<T>> = object<T> || std::is_same_v<T, std::string>;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
concept object_or_vector = is_vector_of_objects<T> ||(!is_vector<T> && object<T>);

template <class T>
std::string json_of(const T& x);
}  // namespace detail

class value {
 public:
  value() = default;
  value(bool b) : kind_(kind::truth), integer_(b ? 1 : 0) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  value(I i) : integer_(static_cast<std::int64_t>(i)) {
    if constexpr (std::is_unsigned_v<I> && sizeof(I) == sizeof(std::int64_t)) {
      if (i > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) refuse_large(i);
    }
  }
  value(double x) : kind_(kind::number), number_(x) {}
  value(std::string text) : kind_(kind::text), text_(std::move(text)) {}
  value(std::string_view text) : kind_(kind::text), text_(text) {}
  value(const char* text) : kind_(kind::text), text_(text) {}
  /// A list of numbers, such as the sizes of layers: a text "[64,64]", which as<std::vector<T>>() reads.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  value(const std::vector<T>& list) : kind_(kind::text), text_("[") {
    for (const T& x : list) text_ += (text_.size() > 1 ? "," : "") + value(x).text();
    text_ += "]";
  }
  /// Throws if it has no form in JSON: a number that is not finite, a text that is not UTF-8.
  template <detail::object_or_vector T>
  value(const T& object) : kind_(kind::text), text_(detail::json_of(object)) {}

  bool is_bool() const { return kind_ == kind::truth; }
  bool is_integer() const { return kind_ == kind::integer; }
  bool is_number() const { return kind_ == kind::integer || kind_ == kind::number; }
  bool is_text() const { return kind_ == kind::text; }

  /// Converts to a bool, an integer, a floating-point number, an enumeration, a string, a list or an object. Throws if
  /// the value is of another kind, or if an integer is wanted and it is not whole.
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, bool>) {
      if (!is_bool()) refuse("true or false");
      return integer_ != 0;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(as<std::underlying_type_t<T>>());
    } else if constexpr (std::is_integral_v<T>) {
      const std::int64_t i = whole();
      if (!std::in_range<T>(i)) refuse_integer();
      return static_cast<T>(i);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!is_number()) refuse("a number");
      return static_cast<T>(is_integer() ? static_cast<double>(integer_) : number_);
    } else if constexpr (detail::is_list<T>) {
      T list;
      for (double x : numbers()) list.push_back(static_cast<typename T::value_type>(x));
      return list;
    } else if constexpr (detail::object_or_vector<T>) {
      return read_object<T>();
    } else {
      static_assert(
          std::is_same_v<T, std::string>,
          "manta: a value of a configuration is a bool, an integer, a floating-point number, an enumeration, "
          "a std::string, a std::vector of numbers or texts, or a class with a serialize() function that cereal finds");
      if (!is_text()) refuse("a text");
      return text_;
    }
  }
  /// Converts to double, so that c["x"] takes part in expressions. These conversions are no templates, so that
  /// std::sqrt(c["x"]) and text = c["name"] are not ambiguous.
  operator double() const { return as<double>(); }
  /// Lives as long as the configuration.
  operator std::string_view() const {
    if (!is_text()) refuse("a text");
    return text_;
  }
  template <class T>
    requires((std::is_integral_v<T> && !std::is_same_v<T, char>) || std::is_same_v<T, std::string> ||
             (detail::object<T> && !detail::is_vector<T> && !std::is_convertible_v<double, T>))
  operator T() const { return as<T>(); }

  /// For people and for digests: 0.5, 3, true, "adam".
  MANTA_DECL std::string text() const;
  /// Appends the value as JSON. A number that is not finite becomes a text ("nan", "inf"), because JSON has no
  /// number for it.
  MANTA_DECL void append_to(std::string& out) const;
  MANTA_DECL static void append_json_number(std::string& out, double x);
  MANTA_DECL static void append_quoted(std::string& out, std::string_view text);

  /// Integers and numbers compare by what they are worth, else the kinds must be the same.
  friend bool operator==(const value& a, const value& b) { return a.equals(b); }

  // With a number on the other side. Exact matches, so that neither side is converted first.
  template <detail::plain_number A>
  friend bool operator==(const value& a, A b) {
    return a.equals(value(b));
  }
  template <detail::plain_number A>
  friend auto operator<=>(const value& a, A b) {
    return a.as<double>() <=> static_cast<double>(b);
  }
  template <detail::plain_number A>
  friend double operator+(const value& a, A b) {
    return a.as<double>() + static_cast<double>(b);
  }
  template <detail::plain_number A>
  friend double operator+(A a, const value& b) {
    return static_cast<double>(a) + b.as<double>();
  }
  template <detail::plain_number A>
  friend double operator-(const value& a, A b) {
    return a.as<double>() - static_cast<double>(b);
  }
  template <detail::plain_number A>
  friend double operator-(A a, const value& b) {
    return static_cast<double>(a) - b.as<double>();
  }
  template <detail::plain_number A>
  friend double operator*(const value& a, A b) {
    return a.as<double>() * static_cast<double>(b);
  }
  template <detail::plain_number A>
  friend double operator*(A a, const value& b) {
    return static_cast<double>(a) * b.as<double>();
  }
  template <detail::plain_number A>
  friend double operator/(const value& a, A b) {
    return a.as<double>() / static_cast<double>(b);
  }
  template <detail::plain_number A>
  friend double operator/(A a, const value& b) {
    return static_cast<double>(a) / b.as<double>();
  }
  /// Writes text() to a stream, a text without quotes.
  template <class Stream>
    requires requires(Stream& s, const std::string& t) { s.setf(s.flags()), s << t; }
  friend Stream& operator<<(Stream& out, const value& v) {
    out << (v.is_text() ? v.text_ : v.text());
    return out;
  }

  template <class Archive>
  void save(Archive& out) const {
    out(kind_);
    if (is_text()) out(text_);
    else if (kind_ == kind::number) out(number_);
    else out(integer_);
  }
  template <class Archive>
  void load(Archive& in) {
    in(kind_);
    if (is_text()) in(text_);
    else if (kind_ == kind::number) in(number_);
    else in(integer_);
  }

 private:
  enum class kind : std::uint8_t { truth, integer, number, text };

  MANTA_DECL bool equals(const value& other) const;
  /// The value as an integer, also of true and false, and of a number without a fraction. Throws for other values.
  MANTA_DECL std::int64_t whole() const;
  /// The elements of a list. Throws if the value is none.
  MANTA_DECL std::vector<double> numbers() const;
  template <class T>
  T read_object() const {
    if (!is_text()) refuse("an object of a class");
    try {
      return output::from_json<T>(text_, "the value");
    } catch (const output::json_error& e) {
      refuse(std::string("an object of the class asked for (") + e.what() + ")");
    }
  }
  [[noreturn]] MANTA_DECL void refuse(const std::string& wanted) const;
  [[noreturn]] MANTA_DECL void refuse_integer() const;
  [[noreturn]] MANTA_DECL static void refuse_large(std::uint64_t i);

  kind kind_ = kind::integer;
  std::int64_t integer_ = 0;  ///< integer of a truth value: 0 or 1
  double number_ = 0;
  std::string text_;
};

template <class T>
std::string detail::json_of(const T& x) {
  try {
    return output::to_json(x);
  } catch (const output::json_error& e) {
    throw error("manta: an object as the value of a parameter has to have a form in JSON: " +
                std::string(e.what()).substr(7));
  }
}

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/value.ipp"
#endif
