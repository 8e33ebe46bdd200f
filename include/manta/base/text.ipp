// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"

#include <charconv>

namespace manta::base {
namespace detail {

template <class Number>
void append_number(std::string& out, Number number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace detail

MANTA_DECL void text_argument::append_to(std::string& out) const {
  switch (kind_) {
    case kind::text: out += text_; return;
    case kind::character: out += character_; return;
    case kind::integer: detail::append_number(out, integer_); return;
    case kind::natural: detail::append_number(out, natural_); return;
    case kind::single: detail::append_number(out, static_cast<float>(real_)); return;
    case kind::real: detail::append_number(out, real_); return;
  }
}

MANTA_DECL std::string text_from(std::string_view format, const text_argument* values) {
  std::string out;
  out.reserve(format.size() + 16);
  while (!format.empty()) {
    const std::size_t place = format.find("{}");
    out += format.substr(0, place);
    if (place == std::string_view::npos) break;
    (values++)->append_to(out);
    format.remove_prefix(place + 2);
  }
  return out;
}

}  // namespace manta::base
