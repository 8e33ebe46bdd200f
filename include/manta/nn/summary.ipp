// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#include "manta/base/amounts.hpp"
#include "manta/nn/summary.hpp"

namespace manta::nn {

namespace detail {
/// Three digits and a prefix of SI: "1.23 M".
inline std::string with_prefix(double number) {
  constexpr std::array<const char*, 6> prefixes{"", " k", " M", " G", " T", " P"};
  std::size_t i = 0;
  for (; number >= 999.5 && i + 1 < prefixes.size(); ++i) number /= 1000;
  return base::number_text(number) + prefixes[i];
}
}  // namespace detail

MANTA_DECL std::string summary_table(std::vector<summary_row> rows) {
  summary_row sums{"all", "", 0, 0, 0};
  for (const summary_row& r : rows) {
    sums.parameters += r.parameters;
    sums.bytes += r.bytes;
    sums.flops += r.flops;
  }
  rows.push_back(sums);
  std::vector<std::array<std::string, 5>> cells{{"layer", "output", "parameters", "bytes", "flops"}};
  for (const summary_row& r : rows) {
    const bool is_input = &r == &rows.front();
    cells.push_back({r.layer, r.output, is_input ? "" : base::count_text(r.parameters),
                     is_input ? "" : base::bytes_text(r.bytes), is_input ? "" : detail::with_prefix(r.flops)});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& row : cells) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string table;
  for (const auto& row : cells) {
    std::string line = row[0] + std::string(widths[0] - row[0].size(), ' ') + "  " + row[1];
    line.resize(widths[0] + 2 + widths[1], ' ');
    for (std::size_t c = 2; c < row.size(); ++c) line += std::string(2 + widths[c] - row[c].size(), ' ') + row[c];
    line.erase(line.find_last_not_of(' ') + 1);
    table += line + "\n";
  }
  return table;
}

}  // namespace manta::nn
