// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/train/csv_rows.hpp"

namespace manta::train::detail {

MANTA_DECL csv_rows::csv_rows(const file& f, char separator) : file_(f), separator_(separator) {
  if (file_.bytes.starts_with("\xef\xbb\xbf")) at_ = 3;  // the byte order mark of UTF-8
}

inline bool csv_rows::at_line_end() const { return file_.bytes[at_] == '\n' || file_.bytes[at_] == '\r'; }
inline void csv_rows::skip_line_end() {
  const bool has_return = file_.bytes[at_] == '\r';
  ++at_, ++line_;
  if (has_return && !at_end() && file_.bytes[at_] == '\n') ++at_;
}
inline void csv_rows::skip_spaces() {
  while (!at_end() && file_.bytes[at_] != separator_ && (file_.bytes[at_] == ' ' || file_.bytes[at_] == '\t')) ++at_;
}

MANTA_DECL bool csv_rows::next(csv_row& row) {
  for (skip_spaces(); !at_end() && at_line_end(); skip_spaces()) skip_line_end();
  if (at_end()) return false;
  row.line = line_;
  std::size_t count = 0;
  for (bool is_more = true; is_more; ++count) {
    if (row.fields.size() == count) row.fields.emplace_back();
    is_more = read_field(row.fields[count]);
  }
  row.fields.resize(count);
  return true;
}

inline bool csv_rows::read_field(std::string& field) {
  field.clear();
  skip_spaces();
  if (!at_end() && file_.bytes[at_] == '"') read_quoted(field);
  std::size_t end = field.size();  // of what is no space at the end
  for (; !at_end() && file_.bytes[at_] != separator_ && !at_line_end(); ++at_) {
    field += file_.bytes[at_];
    if (field.back() != ' ' && field.back() != '\t') end = field.size();
  }
  field.resize(end);
  if (at_end()) return false;
  if (file_.bytes[at_] == separator_) return ++at_, true;
  skip_line_end();
  return false;
}

inline void csv_rows::read_quoted(std::string& field) {
  const std::size_t begin = line_;
  for (++at_; !at_end(); ++at_) {
    const char c = file_.bytes[at_];
    if (c == '"') {
      if (at_ + 1 == file_.bytes.size() || file_.bytes[at_ + 1] != '"') return void(++at_);
      ++at_;
    }
    if (c == '\n' || (c == '\r' && (at_ + 1 == file_.bytes.size() || file_.bytes[at_ + 1] != '\n'))) ++line_;
    field += c;
  }
  throw error(base::text("manta: train: the file {}, line {}: expected a closing quote, found the end of the file",
                         file_.name, begin));
}

}  // namespace manta::train::detail
