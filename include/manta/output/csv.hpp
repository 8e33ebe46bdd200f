// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A table as a CSV file (RFC 4180) that grows by a row at a time:
//
//   output::csv table("run/progress.csv");
//   table.write(1, {{"loss", 0.5}});              // step,loss
//   table.write(2, {{"loss", 0.4}, {"lr", 0.1}}); // step,loss,lr: the first row gets an empty cell
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manta/output/append_file.hpp"
#include "manta/output/row.hpp"

namespace manta::output {

/// The cells of a CSV file's text, row by row; at most `most_rows` rows.
MANTA_DECL std::vector<std::vector<std::string>> parse_csv(std::string_view text,
                                                           std::size_t most_rows = ~std::size_t{0});

class csv {
 public:
  csv() = default;
  /// Makes the folder of the file if need be. `step` is the name of the first column. With mode::append rows follow
  /// those of an earlier run, in its columns.
  MANTA_DECL explicit csv(std::string path, mode m = mode::fresh, std::string step = "step");

  /// A row. A name that no row has had makes a new column at the end, for which the file is written anew. Values that
  /// are missing are empty cells. Buffered: see flush().
  MANTA_DECL void write(std::int64_t step, row values);
  /// Writes what is buffered to the file; to be called every second or so, and at the end.
  void flush() { file_.flush(); }

 private:
  void read_columns();
  /// The place of each value among the columns, those that are new included.
  void place(row values);
  void widen(std::size_t new_columns);
  std::string header() const;

  append_file file_;
  std::string step_;
  std::vector<std::string> columns_;  ///< without the step's
  std::vector<const cell*> places_;
  bool has_header_ = false;
};

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/csv.ipp"
#endif
