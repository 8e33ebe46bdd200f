// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <nlohmann/json.hpp>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/output/json_writer.hpp"

namespace manta::output {

/// Before each member; `name` may be null. An unnamed member among named ones is called as cereal calls it.
MANTA_DECL void json_writer::begin_item(const char* name) {
  if (!frame_.begun) {
    frame_.begun = true;
    frame_.named = name != nullptr;
    text_ += frame_.named ? '{' : '[';
  } else {
    text_ += ',';
  }
  if (frame_.named) {
    write_text(name != nullptr ? name : base::text("value{}", frame_.count));
    text_ += ':';
  }
  ++frame_.count;
}

MANTA_DECL void json_writer::write_text(std::string_view text) {
  bool plain = true;
  for (const char c : text)
    plain =
        plain && static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '"' && c != '\\';
  if (plain) {
    text_ += '"';
    text_ += text;
    text_ += '"';
    return;
  }
  try {
    text_ += nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw json_error(
        "manta: a text in the result is not UTF-8, which JSON needs: return a std::vector<std::uint8_t> for bytes");
  }
}

namespace detail {
template <class T>
void append_number(std::string& text, T value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end.ptr);
}
template <class T>
void append_finite(std::string& text, T value) {
  if (!base::is_finite(value))
    throw json_error("manta: a number in the result is infinite or no number (NaN), which JSON cannot say");
  append_number(text, value);
}
}  // namespace detail

MANTA_DECL void json_writer::write_number(double value) { detail::append_finite(text_, value); }
MANTA_DECL void json_writer::write_number(float value) { detail::append_finite(text_, value); }
MANTA_DECL void json_writer::write_number(std::int64_t value) { detail::append_number(text_, value); }
MANTA_DECL void json_writer::write_number(std::uint64_t value) { detail::append_number(text_, value); }

}  // namespace manta::output
