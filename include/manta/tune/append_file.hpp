// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files that are only ever appended to. What is buffered goes to the system in
// whole records, so that a killed job leaves whole ones; between writes no
// file descriptor is held, however many trials there are.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "manta/tune/value.hpp"

namespace manta::tune {

/// As mkdir -p.
inline void make_folders(const std::string& path) {
  for (std::size_t i = 1; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '/') continue;
    const std::string part = path.substr(0, i);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      throw error("manta: cannot make the folder " + part + ": " + std::strerror(errno));
    }
  }
}

/// False, with the reason in errno, if not all of it could be written.
inline bool write_all(int file, const std::string& content) {
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = ::write(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Replaces a file at once: a reader sees the old content or the new, also if this process is killed meanwhile.
inline void replace_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0 && write_all(file, content);
  if (file >= 0) good = ::close(file) == 0 && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw error("manta: cannot write " + path + ": " + std::strerror(errno));
  }
}

class append_file {
 public:
  append_file() = default;
  /// Begins anew: what the file held is gone at the first write.
  explicit append_file(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// Append whole records to it, then call written().
  std::string& buffer() { return buffer_; }
  void written() {
    if (buffer_.size() >= most_buffered) flush();
  }
  void flush() {
    if (buffer_.empty()) return;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (begun_ ? 0 : O_TRUNC), 0666);
    const bool good = file >= 0 && write_all(file, buffer_);
    const int code = errno;
    if (file >= 0) ::close(file);
    if (!good) throw error("manta: cannot write " + path_ + ": " + std::strerror(code));
    begun_ = true;
    buffer_.clear();
  }

 private:
  static constexpr std::size_t most_buffered = 1 << 14;
  std::string path_, buffer_;
  bool begun_ = false;
};

}  // namespace manta::tune
