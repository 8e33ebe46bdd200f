// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definition of compare.hpp.
#pragma once

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/compare.hpp"
#include "manta/output/csv.hpp"
#include "manta/output/page.hpp"

namespace manta::output {

namespace detail {

inline std::optional<double> number_in(const std::string& cell) {
  double value = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || code != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

/// The table of a run.
class logged_run {
 public:
  explicit logged_run(const std::string& folder) : name_(folder) {
    const std::string path = folder + "/progress.csv";
    if (!std::filesystem::exists(path))
      throw error(base::text("manta: compare_runs: {} is not there: name folders that a training has logged to", path));
    rows_ = parse_csv(read_file(path));
    if (rows_.size() < 2) throw error(base::text("manta: compare_runs: {} has no rows yet", path));
  }

  /// The names of the columns; the first one counts.
  [[nodiscard]] const std::vector<std::string>& columns() const { return rows_.front(); }
  [[nodiscard]] page::series curve(const std::string& column) const {
    page::series line{.name = name_, .points = {}};
    const auto at = static_cast<std::size_t>(std::ranges::find(columns(), column) - columns().begin());
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      if (at >= rows_[i].size()) continue;
      const auto x = number_in(rows_[i][0]), y = number_in(rows_[i][at]);
      if (x && y) line.points.emplace_back(*x, *y);
    }
    return line;
  }

 private:
  std::string name_;
  std::vector<std::vector<std::string>> rows_;
};

inline bool is_one_number(const std::vector<page::series>& lines) {
  const double first = lines.front().points.front().second;
  return std::ranges::all_of(lines, [&](const page::series& line) {
    return std::ranges::all_of(line.points, [&](const auto& point) { return point.second == first; });
  });
}

}  // namespace detail

MANTA_DECL void compare_runs(const std::vector<std::string>& folders, const std::string& page_file) {
  if (folders.empty()) throw error("manta: compare_runs: no folders are given");
  const std::vector<detail::logged_run> runs(folders.begin(), folders.end());
  std::vector<std::string> columns;
  for (const detail::logged_run& run : runs) {
    for (const std::string& column : run.columns()) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  page all("runs");
  for (std::size_t i = 1; i < columns.size(); ++i) {
    std::vector<page::series> lines;
    for (const detail::logged_run& run : runs) {
      if (page::series line = run.curve(columns[i]); !line.points.empty()) lines.push_back(std::move(line));
    }
    if (!lines.empty() && !detail::is_one_number(lines)) all.curves(columns[i], columns[0], "", lines);
  }
  all.write(page_file);
}

}  // namespace manta::output
