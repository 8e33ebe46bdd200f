// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/base/file.hpp"
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

MANTA_DECL file_target target_of(const std::string& path) {
  const std::string_view text = path;
  const bool is_stream = text.starts_with("/dev/std") || text.starts_with("/dev/fd/") || text.starts_with("/proc/");
  struct stat s {};
  if (is_stream || (::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))) return {path, path, true};
  const std::string behind_links = base::absolute_path(path);
  return {behind_links, behind_links + ".new", false};
}

MANTA_DECL int file_target::open() const {
  const int how = is_in_place ? O_APPEND | O_NONBLOCK : O_CREAT | O_TRUNC;  // nobody may read the pipe
  return ::open(part.c_str(), O_WRONLY | O_CLOEXEC | how, 0666);
}

MANTA_DECL bool file_target::finish() const { return is_in_place || std::rename(part.c_str(), path.c_str()) == 0; }

MANTA_DECL void file_target::drop() const {
  if (!is_in_place) ::unlink(part.c_str());
}

MANTA_DECL std::string file_target::complaint(int code) const {
  const std::string text = "manta: cannot write " + path + ": " + std::strerror(code);
  return is_in_place ? text : text + "; what was there before is intact";
}

MANTA_DECL void replace_file(const std::string& path, const std::string& content) {
  const file_target target = target_of(path);
  const int file = target.open();
  bool good = file >= 0 && write_all(file, content) == content.size();
  int code = errno;
  if (file >= 0 && ::close(file) != 0 && std::exchange(good, false)) code = errno;
  if (good && !target.finish()) {
    good = false;
    code = errno;
  }
  if (good) return;
  target.drop();
  throw error(target.complaint(code));
}

MANTA_DECL void check_replaceable(const std::string& path) {
  make_folder_of(path);
  struct stat s {};
  if (path.empty() || path.back() == '/' || (::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode)))
    throw error("manta: cannot write " + path + ": it is a folder; give the name of a file");
  const file_target target = target_of(path);
  const int file = target.open();
  if (file < 0) throw error("manta: cannot write " + path + ": " + std::strerror(errno));
  ::close(file);
  target.drop();
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
