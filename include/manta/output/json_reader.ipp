// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>

#include "manta/base/text.hpp"
#include "manta/output/json_reader.hpp"

namespace manta::output {

MANTA_DECL void json_reader::complain(std::string_view expected, json_view came) const {
  const std::string where = path_.empty() ? std::string(called_) : path_;
  if (!came.exists()) throw json_error(where + " is missing: expected " + std::string(expected));
  throw json_error(where + ": expected " + std::string(expected) + ", not " + came.describe());
}

MANTA_DECL void json_reader::complain_of_all(std::size_t types, json_view came, const std::string& refused) const {
  if (!came.exists()) complain(base::text("one of {} types", types), came);
  constexpr std::size_t most = 400;  // variants in variants
  throw json_error(base::text("{}: fits none of its {} types ({})", path_.empty() ? std::string(called_) : path_, types,
                              refused.size() < most ? refused : refused.substr(0, most) + ".."));
}

MANTA_DECL std::string json_reader::position(std::size_t i) {
  std::string text("[");  // g++ 12 warns of a sum of these
  text += std::to_string(i);
  text += ']';
  return text;
}

MANTA_DECL bool json_reader::read_bool(json_view from) const {
  if (from.what() != json_view::kind::boolean) complain("true or false", from);
  return from.boolean();
}

MANTA_DECL double json_reader::read_number(json_view from) const {
  const json_view::kind k = from.what();
  if (k != json_view::kind::number && k != json_view::kind::integer && k != json_view::kind::natural)
    complain("a number", from);
  return from.number();
}

MANTA_DECL std::int64_t json_reader::read_integer(json_view from, std::int64_t least, std::int64_t most) const {
  const auto expected = [&] { return base::text("an integer from {} to {}", least, most); };
  std::int64_t value = 0;
  switch (from.what()) {
    case json_view::kind::integer: value = from.integer(); break;
    case json_view::kind::natural:
      if (from.natural() > static_cast<std::uint64_t>(most)) complain(expected(), from);
      value = from.integer();
      break;
    case json_view::kind::number:  // 21.0
      if (std::trunc(from.number()) != from.number() || std::abs(from.number()) > 9e15) complain(expected(), from);
      value = static_cast<std::int64_t>(from.number());
      break;
    default: complain(expected(), from);
  }
  if (value < least || value > most) complain(expected(), from);
  return value;
}

MANTA_DECL std::uint64_t json_reader::read_natural(json_view from, std::uint64_t most) const {
  if (most <= static_cast<std::uint64_t>(INT64_MAX))
    return static_cast<std::uint64_t>(read_integer(from, 0, static_cast<std::int64_t>(most)));
  if (from.what() == json_view::kind::natural) return from.natural();
  if (from.what() == json_view::kind::number) {  // 21.0
    const double number = from.number();
    if (number >= 0 && number <= 9e15 && std::trunc(number) == number) return static_cast<std::uint64_t>(number);
  }
  complain(base::text("an integer from 0 to {}", most), from);
}

MANTA_DECL const std::string& json_reader::read_text(json_view from) const {
  if (!from.is_string()) complain("a text", from);
  return from.string();
}

MANTA_DECL void json_reader::expect_array(json_view from, std::int64_t size) const {
  const std::string expected = size < 0 ? "an array" : base::text("an array of {}", size);
  if (!from.is_array() || (size >= 0 && from.size() != static_cast<std::size_t>(size))) complain(expected, from);
}

MANTA_DECL void json_reader::expect_members(json_view from) const {
  if (!from.is_object() && !from.is_array()) complain("an object", from);
}

MANTA_DECL json_view json_reader::next_member(const char* name, std::string& called) {
  const std::size_t at = frame_.next++;
  if (frame_.of.is_array()) {
    called = name != nullptr ? name : position(at);
    return at < frame_.of.size() ? frame_.of.element(at) : json_view();
  }
  called = name != nullptr ? name : base::text("value{}", at);
  const json_view member = frame_.of.member(called);
  if (name == nullptr && !member.exists()) {
    throw json_error((path_.empty() ? std::string(called_) : path_) +
                     ": expected an array of the members in their order, not an object: they have no names here, which "
                     "CEREAL_NVP would give them");
  }
  return member;
}

}  // namespace manta::output
