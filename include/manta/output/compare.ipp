// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
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
      throw error(base::text("manta: output: {} is not there: name folders that a training has logged to", path));
    rows_ = parse_csv(read_file(path));
    if (rows_.size() < 2) throw error(base::text("manta: output: {} has no rows yet", path));
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

/// The names of all columns, in the order in which the runs have them.
inline std::vector<std::string> columns_of(const std::vector<logged_run>& runs) {
  std::vector<std::string> columns;
  for (const logged_run& run : runs) {
    for (const std::string& column : run.columns()) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

/// A picture for each column but the first one, of the lines that a function gives.
inline void write_pictures(const std::string& title, const std::vector<std::string>& columns, const std::string& file,
                           const std::function<std::vector<page::series>(const std::string& column)>& lines_of) {
  page all(title);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    std::vector<page::series> lines = lines_of(columns[i]);
    std::erase_if(lines, [](const page::series& line) { return line.points.empty(); });
    if (!lines.empty() && !is_one_number(lines)) all.curves(columns[i], columns[0], "", lines);
  }
  all.write(file);
}

/// The value of a line at x, which is not outside of it.
inline double value_at(const page::series& line, double x) {
  const auto right = std::ranges::lower_bound(line.points, x, {}, &std::pair<double, double>::first);
  if (right == line.points.begin() || right->first == x) return right->second;
  const auto left = right - 1;
  return left->second + (right->second - left->second) * (x - left->first) / (right->first - left->first);
}

/// The median of lines, with the least and the largest of them, where all of them are.
inline page::series joined(const std::string& name, std::vector<page::series> lines) {
  page::series all{.name = name, .points = {}};
  std::erase_if(lines, [](const page::series& line) { return line.points.empty(); });
  if (lines.empty()) return all;
  std::set<double> places;
  double begin = lines.front().points.front().first, end = lines.front().points.back().first;
  for (page::series& line : lines) {
    std::ranges::stable_sort(line.points, {}, &std::pair<double, double>::first);
    begin = std::max(begin, line.points.front().first);
    end = std::min(end, line.points.back().first);
    for (const auto& [x, y] : line.points) places.insert(x);
  }
  std::vector<double> values(lines.size());
  for (const double x : places) {
    if (x < begin || x > end) continue;
    std::ranges::transform(lines, values.begin(), [&](const page::series& line) { return value_at(line, x); });
    std::ranges::sort(values);
    all.points.emplace_back(x, (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2);
    if (values.size() > 1) all.band.emplace_back(values.front(), values.back());
  }
  return all;
}

}  // namespace detail

MANTA_DECL void compare_runs(const std::vector<std::string>& folders, const std::string& page_file) {
  if (folders.empty()) throw error("manta: compare_runs: no folders are given");
  const std::vector<detail::logged_run> runs(folders.begin(), folders.end());
  detail::write_pictures("runs", detail::columns_of(runs), page_file, [&](const std::string& column) {
    std::vector<page::series> lines;
    for (const detail::logged_run& run : runs) lines.push_back(run.curve(column));
    return lines;
  });
}

MANTA_DECL void compare_seeds(const std::vector<seeds>& all, const std::string& page_file) {
  std::vector<detail::logged_run> runs;
  for (const seeds& of : all) {
    if (of.folders.empty()) throw error(base::text("manta: compare_seeds: \"{}\" has no folders", of.name));
    for (const std::string& folder : of.folders) runs.emplace_back(folder);
  }
  if (runs.empty()) throw error("manta: compare_seeds: no runs are given");
  detail::write_pictures("seeds", detail::columns_of(runs), page_file, [&](const std::string& column) {
    std::vector<page::series> lines;
    auto run = runs.begin();
    for (const seeds& of : all) {
      std::vector<page::series> its;
      for (std::size_t i = 0; i < of.folders.size(); ++i) its.push_back((run++)->curve(column));
      lines.push_back(detail::joined(of.name, std::move(its)));
    }
    return lines;
  });
}

}  // namespace manta::output
