// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rows as JSON lines: {"step":1,"loss":0.5}
//
//   output::json_lines lines("run/result.jsonl");
//   lines.write(1, {{"loss", 0.5}});
#pragma once

#include <string>

#include "manta/output/append_file.hpp"
#include "manta/output/row.hpp"

namespace manta::output {

class json_lines {
 public:
  json_lines() = default;
  /// Makes the folder of the file if need be. `step` is the name of the first member of each line; empty:
  /// there is none.
  MANTA_DECL explicit json_lines(std::string path, mode m = mode::fresh, std::string step = "step");

  /// A line with the step. Buffered: see flush().
  MANTA_DECL void write(std::int64_t step, row values);
  /// A line without a step.
  MANTA_DECL void write(row values);
  /// Writes what is buffered to the file; to be called every second or so, and at the end.
  void flush() { file_.flush(); }

 private:
  void members(row values, bool first);

  append_file file_;
  std::string step_;
};

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/json_lines.ipp"
#endif
