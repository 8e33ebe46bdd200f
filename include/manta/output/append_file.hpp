// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files that are only ever appended to. What is buffered goes to the system in
// whole records, so that a killed job leaves whole ones; between writes no
// file descriptor is held, however many trials there are.
#pragma once

#include <string>
#include <utility>

#include "manta/output/source.hpp"

namespace manta::output {

/// As mkdir -p.
MANTA_DECL void make_folders(const std::string& path);

/// False, with the reason in errno, if not all of it could be written.
MANTA_DECL bool write_all(int file, const std::string& content);

/// Replaces a file at once: a reader sees the old content or the new, also if this process is killed meanwhile.
MANTA_DECL void replace_file(const std::string& path, const std::string& content);

class append_file {
 public:
  append_file() = default;
  /// Begins anew: what the file held is gone at the first write.
  explicit append_file(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Append whole records to it, then call written().
  std::string& buffer() { return buffer_; }
  MANTA_DECL void written();
  MANTA_DECL void flush();

 private:
  static constexpr std::size_t most_buffered = 1 << 14;
  std::string path_, buffer_;
  bool begun_ = false;
};

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/append_file.ipp"
#endif
