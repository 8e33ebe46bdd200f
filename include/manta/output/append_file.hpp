// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files that are replaced at once, and files that are only ever appended to. What
// is appended goes to the system in whole records, so that a killed job leaves
// whole ones; between writes no file descriptor is held, however many files there are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "manta/output/source.hpp"

namespace manta::output {

/// Decides about the content that a file has from an earlier run.
enum class mode {
  fresh,  ///< the old content goes at the first write
  append  ///< new records follow the old content
};

/// Makes a folder and those above it, as mkdir -p does. Throws manta::error with the reason.
MANTA_DECL void make_folders(const std::string& path);

/// Makes the folder of a file.
MANTA_DECL void make_folder_of(const std::string& file);

/// Writes the content to an open file, and returns the number of bytes that were written: fewer if the system has
/// refused more, for the reason in errno.
MANTA_DECL std::size_t write_all(int file, std::string_view content);

/// Where a content goes that replaces a file. A device, a pipe or a standard stream is written to as it is; of a link
/// the file is replaced to which it leads.
struct file_target {
  std::string path;          ///< the file that is written, or replaced
  std::string part;          ///< the file that is written; it is renamed to `path` when it is whole
  bool is_in_place = false;  ///< `part` is `path`
  /// Opens the part; -1: errno has the reason.
  MANTA_DECL int open() const;
  /// The part is whole: it takes its place. False: errno has the reason.
  MANTA_DECL bool finish() const;
  /// The part is not wanted.
  MANTA_DECL void drop() const;
  /// What to say if that fails: "manta: cannot write out.json: no space left".
  MANTA_DECL std::string complaint(int code) const;
};
MANTA_DECL file_target target_of(const std::string& path);

/// Replaces a file at once: a reader sees the old content or the new, also if this process is killed meanwhile.
MANTA_DECL void replace_file(const std::string& path, const std::string& content);

/// For what is written after hours: makes the folder of the file, and throws, with the reason, if a file cannot be
/// made there. The file itself stays as it is.
MANTA_DECL void check_replaceable(const std::string& path);

/// The content of a file; empty if it is not there.
MANTA_DECL std::string read_file(const std::string& path);

/// A file that grows by whole records. Its folder has to be there.
class append_file {
 public:
  append_file() = default;
  explicit append_file(std::string path, mode m = mode::fresh) : path_(std::move(path)), begun_(m == mode::append) {}

  const std::string& path() const { return path_; }
  /// Append whole records to it, then call written().
  std::string& buffer() { return buffer_; }
  /// Writes the buffer to the file once it has 16 KiB.
  MANTA_DECL void written();
  /// Writes the buffer to the file. Throws manta::error with the reason.
  MANTA_DECL void flush();
  /// Replaces what the file and the buffer have held.
  MANTA_DECL void replace(const std::string& content);

 private:
  static constexpr std::size_t most_buffered = 1 << 14;
  std::string path_, buffer_;
  bool begun_ = false;
};

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/append_file.ipp"
#endif
