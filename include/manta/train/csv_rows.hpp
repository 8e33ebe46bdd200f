// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rows of a CSV file (RFC 4180), as Python's csv module reads them: fields may be in double quotes, in which a
// doubled quote is one, and separators and line ends are text. Lines end in LF, CR LF or CR. A byte order mark is left
// out, and so are spaces around a field that is not quoted, and empty lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "manta/train/readers.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

struct csv_row {
  std::size_t line = 0;  ///< the one in which the row begins, from 1
  std::vector<std::string> fields;
};

class csv_rows {
 public:
  /// Refers to the file.
  MANTA_DECL csv_rows(const file& f, char separator);
  /// Reads the next row; false at the end of the file. Throws if a quote is not closed.
  MANTA_DECL bool next(csv_row& row);

 private:
  [[nodiscard]] bool at_end() const { return at_ == file_.bytes.size(); }
  [[nodiscard]] bool at_line_end() const;
  void skip_line_end();
  void skip_spaces();
  /// Reads a field, and what separates it from the next one; false if it was the last of its row.
  bool read_field(std::string& field);
  void read_quoted(std::string& field);

  const file& file_;
  char separator_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/csv_rows.ipp"
#endif
