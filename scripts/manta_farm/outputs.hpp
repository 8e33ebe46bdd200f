// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What lines print. Each rank appends it to one file, `output.RANK` in the folder of results, since many small files are
// slow on the file systems of clusters; or to one file for each line, on request. A result names the pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farm {

/// A part of a file that a line has printed.
struct piece {
  std::string file;  ///< in the folder of results
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(file, begin, bytes);
  }
};

/// A file to which this process appends.
class output_file {
 public:
  output_file() = default;
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() { close(); }
  /// Opens it unless it is open; `afresh`: without what it had. Throws std::system_error.
  void open(const std::string& folder, const std::string& name, bool afresh);
  void close();
  /// Appends the bytes and says where they are. Throws std::system_error where they cannot be written.
  piece append(std::string_view bytes);

 private:
  std::string name_;
  int file_ = -1;
};

/// What a line prints while it runs: collects pieces, and writes them in large parts.
class line_output {
 public:
  struct options {
    std::string folder;
    std::string file;              ///< of the rank, or of the line
    bool is_apart = false;         ///< a file for this line alone
    std::uint64_t most_bytes = 0;  ///< what is more is counted, and thrown away
    std::string tag;               ///< before each line that is shown at once on the standard output; empty: none is
  };
  explicit line_output(options chosen) : options_(std::move(chosen)) {}
  void add(std::string_view bytes);
  /// Writes the rest and returns the pieces.
  std::vector<piece> finish();
  /// Number of bytes beyond most_bytes.
  std::uint64_t cut_bytes() const { return cut_; }
  /// Why something could not be written; empty: all was.
  const std::string& error() const { return error_; }

 private:
  void write();
  void show(std::string_view bytes);

  options options_;
  output_file own_;
  std::string waiting_, shown_;  // bytes not yet written; the begin of a line not yet shown
  std::vector<piece> pieces_;
  std::uint64_t kept_ = 0, cut_ = 0;
  std::string error_;
};

/// Prints the pieces on the standard output. Throws mistake if they cannot be read.
void print_pieces(const std::string& folder, const std::vector<piece>& pieces);

/// Writes all bytes to a file descriptor; false, with errno, if that fails.
bool write_all(int file, std::string_view bytes);

}  // namespace farm
