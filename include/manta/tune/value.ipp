// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdlib>

#include "manta/base/text.hpp"
#include "manta/tune/math.hpp"
#include "manta/tune/value.hpp"

namespace manta::tune {

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
  if (is_number() && other.is_number() && kind_ != other.kind_) {
    const double x = is_integer() ? other.number_ : number_;
    const bool whole =
        x >= -0x1p63 && x < 0x1p63 && x == std::floor(x);  // a double of an integer may be another number
    return whole && static_cast<std::int64_t>(x) == (is_integer() ? integer_ : other.integer_);
  }
  if (kind_ != other.kind_) return false;
  return is_text()               ? text_ == other.text_
         : kind_ == kind::number ? number_ == other.number_
                                 : integer_ == other.integer_;
}

MANTA_DECL std::vector<double> value::numbers() const {
  std::vector<double> list;
  bool is_good = is_text() && text_.size() >= 2 && text_.front() == '[' && text_.back() == ']';
  const char* at = text_.c_str() + 1;
  while (is_good && *at != ']') {
    char* end = nullptr;
    list.push_back(std::strtod(at, &end));
    is_good = end != at && (*end == ',' || *end == ']');
    at = *end == ',' ? end + 1 : end;
  }
  if (!is_good) refuse("a list of numbers");
  return list;
}

MANTA_DECL std::int64_t value::whole() const {
  if (is_text()) refuse_integer();
  if (kind_ != kind::number) return integer_;
  if (number_ != std::floor(number_) || !(std::abs(number_) < 9e15)) refuse_integer();
  return static_cast<std::int64_t>(number_);
}

MANTA_DECL void value::refuse(const std::string& wanted) const {
  throw error("manta: the value " + text() + " is not " + wanted + "; ask for the type that the space gives it");
}

MANTA_DECL void value::refuse_integer() const { refuse("an integer in the range asked for"); }

MANTA_DECL void value::refuse_large(std::uint64_t i) {
  throw error(
      base::text("manta: the value {} is too large: integers go to 2^63 - 1; give it as a text or as a double", i));
}

MANTA_DECL void value::append_json_number(std::string& out, double x) { output::append_json_number(out, x); }

MANTA_DECL void value::append_quoted(std::string& out, std::string_view text) { output::append_json_text(out, text); }

}  // namespace manta::tune
