// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The file of results, `results.jsonl` in its folder: a JSON object in a line for each attempt of each line, appended
// when the attempt has ended. It is the journal as well: a later start finds there what is done. The last record of a
// line holds. A record that was cut by a kill or a full disk is no record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "line.hpp"
#include "run_line.hpp"

namespace farm {

/// The fields of a record, which may lie in a text that lives longer.
struct record {
  line_key key;
  int line = 0, attempt = 1;
  outcome how = outcome::ok;
  bool runs_again = false;  ///< a retry was to follow
};

/// The folder of results of one file of lines. Only one farm at a time may write there.
class results_folder {
 public:
  explicit results_folder(std::string path) : path_(std::move(path)) {}
  results_folder(const results_folder&) = delete;
  results_folder& operator=(const results_folder&) = delete;
  ~results_folder();

  const std::string& path() const { return path_; }
  std::string journal() const { return path_ + "/results.jsonl"; }
  bool exists() const;
  /// Removes what earlier runs have left there: results and outputs, nothing else. The folder must be open.
  void clear() const;
  /// Makes the folder, keeps other farms out, and takes away a record that was cut. Throws mistake.
  void open();
  /// Appends the record of an attempt. Throws std::system_error, as where the disk is full.
  void append(const line& what, int attempt, bool runs_again, const line_result& result, const std::string& host);
  /// Writes results.csv: the last record of each line, in the order of the lines.
  void write_csv() const;

 private:
  std::string path_;
  int file_ = -1;
};

/// Calls `use(record, text)` for each record of the file, from the first to the last.
void read_records(const std::string& journal, const std::function<void(const record&, std::string_view)>& use);

/// The last outcome of each line; `interrupted` where a retry was to follow.
std::unordered_map<line_key, outcome, key_hash> ended_lines(const std::string& journal);

/// A field of a record, as it stands there; empty: it has none of that name.
std::string_view field(std::string_view text, std::string_view name);

/// The text of a field that is a JSON string.
std::string string_field(std::string_view text, std::string_view name);

/// The pieces of output that a record names.
std::vector<piece> pieces_of(std::string_view text);

/// Prints the table of results in CSV.
void print_csv(const std::string& journal, std::FILE* out);

}  // namespace farm
