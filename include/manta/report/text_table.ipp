// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/text_table.hpp"

#include <algorithm>

namespace manta::report {

namespace detail {

inline bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }
inline std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace detail

MANTA_DECL std::string shortened(std::string_view text, std::size_t most) {
  if (detail::columns_of(text) <= most) return std::string(text);
  std::size_t at = 0;
  for (std::size_t columns = 0; at < text.size(); ++at) {
    if (detail::begins_character(text[at]) && columns++ + 3 >= most) break;
  }
  return std::string(text.substr(0, at)) + "...";
}

MANTA_DECL std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return text;
}

MANTA_DECL std::string text_table::text(std::string_view indent) const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], detail::columns_of(row[i]));
  }
  const std::size_t last = widths.size() - 1;
  std::string text;
  for (const auto& row : rows_) {
    text += indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string room(widths[i] - detail::columns_of(row[i]), ' ');
      const bool on_the_left = i == 0 || (i == last && rows_[0][last].empty());
      text += i == 0 ? "" : "  ";
      text += on_the_left ? row[i] + room : room + row[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace manta::report
