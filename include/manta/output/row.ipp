// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>

#include "manta/base/number.hpp"
#include "manta/output/row.hpp"

namespace manta::output {

namespace detail {

inline unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// The length of the UTF-8 character that begins there (Unicode 15, table 3-7); 0: there is none.
inline std::size_t utf8_length(std::string_view text, std::size_t i) {
  const unsigned lead = byte_at(text, i);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) return 0;
  const unsigned low = lead == 0xe0 ? 0xa0U : lead == 0xf0 ? 0x90U : 0x80U;
  const unsigned high = lead == 0xed ? 0x9fU : lead == 0xf4 ? 0x8fU : 0xbfU;
  if (byte_at(text, i + 1) < low || byte_at(text, i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xc0U) != 0x80) return 0;
  }
  return length;
}

}  // namespace detail

MANTA_DECL double widened(float x) {
  if (!base::is_finite(static_cast<double>(x))) return static_cast<double>(x);
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  double wide = 0;
  std::from_chars(text, end, wide);
  return wide;
}

MANTA_DECL double cell::number() const {
  if (const auto* i = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*i);
  if (const auto* x = std::get_if<double>(&value_)) return *x;
  const auto* b = std::get_if<bool>(&value_);
  return b != nullptr && *b ? 1 : 0;
}

MANTA_DECL void cell::append_json(std::string& out) const {
  if (const auto* b = std::get_if<bool>(&value_)) out += *b ? "true" : "false";
  else if (const auto* i = std::get_if<std::int64_t>(&value_)) append_number(out, *i);
  else if (const auto* x = std::get_if<double>(&value_)) append_json_number(out, *x);
  else append_json_text(out, std::get<std::string_view>(value_));
}

MANTA_DECL void cell::append_csv(std::string& out) const {
  if (const auto* b = std::get_if<bool>(&value_)) out += *b ? "true" : "false";
  else if (const auto* i = std::get_if<std::int64_t>(&value_)) append_number(out, *i);
  else if (const auto* x = std::get_if<double>(&value_)) append_number(out, *x);
  else append_csv_text(out, std::get<std::string_view>(value_));
}

MANTA_DECL void append_number(std::string& out, double x) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, x).ptr);
}

MANTA_DECL void append_number(std::string& out, std::int64_t x) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, x).ptr);
}

MANTA_DECL void append_json_number(std::string& out, double x) {
  const bool finite = base::is_finite(x);
  if (!finite) out += '"';
  const std::size_t begin = out.size();
  append_number(out, x);
  if (finite && out.find_first_of(".e", begin) == std::string::npos) out += ".0";
  if (!finite) out += '"';
}

MANTA_DECL void append_json_text(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const unsigned c = detail::byte_at(text, i);
    const std::size_t length = detail::utf8_length(text, i);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c == 0x7f || length == 0) {
      out += "\\u00";
      out += digits[c >> 4U];
      out += digits[c & 15U];
    } else {
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  out += '"';
}

MANTA_DECL void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2U : 1U, c);
  out += '"';
}

}  // namespace manta::output
