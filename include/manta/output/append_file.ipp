// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of append_file.hpp.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "manta/base/error.hpp"
#include "manta/output/append_file.hpp"

namespace manta::output {

MANTA_DECL void make_folders(const std::string& path) {
  for (std::size_t i = 1; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '/') continue;
    const std::string part = path.substr(0, i);
    if (::mkdir(part.c_str(), 0777) == 0) continue;
    const int why = errno;
    struct stat s {};
    const bool is_there = ::stat(part.c_str(), &s) == 0;
    if (is_there && S_ISDIR(s.st_mode)) continue;
    throw error("manta: cannot make the folder " + part + ": " + (is_there ? "it is a file" : std::strerror(why)));
  }
}

MANTA_DECL void make_folder_of(const std::string& file) {
  if (const std::size_t slash = file.rfind('/'); slash != std::string::npos && slash > 0)
    make_folders(file.substr(0, slash));
}

MANTA_DECL std::size_t write_all(int file, std::string_view content) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(file, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

MANTA_DECL void replace_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = file >= 0 && write_all(file, content) == content.size();
  if (file >= 0) good = ::close(file) == 0 && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    throw error("manta: cannot write " + path + ": " + std::strerror(code) + "; what was there before is intact");
  }
}

MANTA_DECL void check_replaceable(const std::string& path) {
  make_folder_of(path);
  struct stat s {};
  if (path.empty() || path.back() == '/' || (::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode)))
    throw error("manta: cannot write " + path + ": it is a folder; give the name of a file");
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw error("manta: cannot write " + path + ": " + std::strerror(errno));
  ::close(file);
  ::unlink(temporary.c_str());
}

MANTA_DECL std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

MANTA_DECL void append_file::written() {
  if (buffer_.size() >= most_buffered) flush();
}

MANTA_DECL void append_file::flush() {
  if (buffer_.empty()) return;
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (begun_ ? 0 : O_TRUNC), 0666);
  const std::size_t done = file >= 0 ? write_all(file, buffer_) : 0;
  const int code = errno;
  if (file >= 0) ::close(file);
  begun_ = begun_ || file >= 0;
  buffer_.erase(0, done);  // a later flush goes on behind it, so that no record is torn
  if (file < 0 || !buffer_.empty()) throw error("manta: cannot write " + path_ + ": " + std::strerror(code));
}

MANTA_DECL void append_file::replace(const std::string& content) {
  replace_file(path_, content);
  begun_ = true;
  buffer_.clear();
}

}  // namespace manta::output
