// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of value.hpp.
#pragma once

#include <charconv>
#include <cmath>

#include "manta/tune/math.hpp"
#include "manta/tune/value.hpp"

namespace manta::tune {

MANTA_DECL void append_number(std::string& out, double x) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  out.append(text, end);
}

MANTA_DECL void append_number(std::string& out, std::int64_t x) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  out.append(text, end);
}

MANTA_DECL std::string value::text() const {
  std::string out;
  append_to(out);
  return out;
}

MANTA_DECL void value::append_to(std::string& out) const {
  if (is_bool()) {
    out += integer_ != 0 ? "true" : "false";
  } else if (is_integer()) {
    append_number(out, integer_);
  } else if (is_text()) {
    append_quoted(out, text_);
  } else {
    append_json_number(out, number_);
  }
}

MANTA_DECL bool value::equals(const value& other) const {
  if (is_number() && other.is_number() && kind_ != other.kind_) return as<double>() == other.as<double>();
  if (kind_ != other.kind_) return false;
  return is_text() ? text_ == other.text_ : kind_ == kind::number ? number_ == other.number_ : integer_ == other.integer_;
}

MANTA_DECL std::int64_t value::whole() const {
  if (is_text()) refuse_integer();
  if (kind_ != kind::number) return integer_;
  if (number_ != std::floor(number_) || !(std::abs(number_) < 9e15)) refuse_integer();
  return static_cast<std::int64_t>(number_);
}

MANTA_DECL void value::refuse(const char* wanted) const {
  throw error("manta: the value " + text() + " is not " + wanted + "; ask for the type that the space gives it");
}

MANTA_DECL void value::refuse_integer() const { refuse("an integer in the range asked for"); }

MANTA_DECL void value::append_json_number(std::string& out, double x) {
  if (!is_finite(x)) out += '"';
  const std::size_t begin = out.size();
  append_number(out, x);
  // stays a number with a point when it is read again, so that its kind does not change
  if (is_finite(x) && out.find_first_of(".e", begin) == std::string::npos) out += ".0";
  if (!is_finite(x)) out += '"';
}

MANTA_DECL void value::append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4U];
      out += digits[static_cast<unsigned char>(c) & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace manta::tune
