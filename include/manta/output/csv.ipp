// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/output/csv.hpp"

namespace manta::output {

MANTA_DECL csv::csv(std::string path, mode m, std::string step) : file_(std::move(path), m), step_(std::move(step)) {
  make_folder_of(file_.path());
  if (m == mode::append) read_columns();
}

MANTA_DECL std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::size_t most_rows) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string cell;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size() && rows.size() < most_rows; ++i) {
    const char c = text[i];
    if (c == '"') {
      if (is_quoted && i + 1 < text.size() && text[i + 1] == '"') cell += text[++i];
      else is_quoted = !is_quoted;
    } else if (!is_quoted && (c == ',' || c == '\n')) {
      row.push_back(std::exchange(cell, {}));
      if (c == '\n') rows.push_back(std::exchange(row, {}));
    } else if (is_quoted || c != '\r') {
      cell += c;
    }
  }
  if (rows.size() < most_rows && (!row.empty() || !cell.empty())) {  // the last row has no end of line
    row.push_back(std::move(cell));
    rows.push_back(std::move(row));
  }
  return rows;
}

MANTA_DECL void csv::read_columns() {
  const std::string content = read_file(file_.path());
  const auto rows = parse_csv(content, 1);
  if (rows.empty()) return;
  has_header_ = true;
  step_ = rows.front().front();
  columns_.assign(rows.front().begin() + 1, rows.front().end());
  if (content.back() != '\n') file_.buffer() += '\n';  // the last row was cut off
}

MANTA_DECL void csv::write(std::int64_t step, row values) {
  const std::size_t before = columns_.size();
  place(values);
  std::string& out = file_.buffer();
  if (!has_header_) out += header();
  else if (columns_.size() > before) widen(columns_.size() - before);
  has_header_ = true;
  append_number(out, step);
  for (const cell* c : places_) {
    out += ',';
    if (c != nullptr) c->append_csv(out);
  }
  out += '\n';
  file_.written();
}

MANTA_DECL void csv::place(row values) {
  places_.assign(columns_.size(), nullptr);
  std::size_t next = 0;  // rows are alike: the column of a value mostly follows that of the one before
  for (const field& f : values) {
    std::size_t at =
        next < columns_.size() && columns_[next] == f.name
            ? next
            : static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), f.name) - columns_.begin());
    if (at == columns_.size()) {
      columns_.emplace_back(f.name);
      places_.push_back(nullptr);
    }
    places_[at] = &f.value;
    next = at + 1;
  }
}

MANTA_DECL void csv::widen(std::size_t new_columns) {
  file_.flush();
  const std::string old = read_file(file_.path());
  const std::string more(new_columns, ',');
  std::string wide;
  bool quoted = false, is_header = true;
  for (const char c : old) {
    if (c == '"') quoted = !quoted;
    if (quoted || c != '\n') {
      if (!is_header) wide += c;
    } else if (is_header) {
      wide = header();
      is_header = false;
    } else {
      wide += more;
      wide += c;
    }
  }
  file_.replace(wide);
}

MANTA_DECL std::string csv::header() const {
  std::string out;
  append_csv_text(out, step_);
  for (const std::string& name : columns_) append_csv_text(out += ',', name);
  return out + '\n';
}

}  // namespace manta::output
