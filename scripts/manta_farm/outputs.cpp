// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "outputs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "text.hpp"

namespace farm {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void output_file::open(const std::string& folder, const std::string& name, bool afresh) {
  if (file_ >= 0) return;
  name_ = name;
  file_ =
      ::open((folder + "/" + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (afresh ? O_TRUNC : 0), 0666);
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), folder + "/" + name);
}

void output_file::close() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

piece output_file::append(std::string_view bytes) {
  const off_t begin = ::lseek(file_, 0, SEEK_END);
  if (begin < 0 || !write_all(file_, bytes)) throw std::system_error(errno, std::generic_category(), name_);
  return {name_, static_cast<std::uint64_t>(begin), bytes.size()};
}

void line_output::add(std::string_view bytes) {
  constexpr std::size_t part = std::size_t{1} << 20U;
  if (!options_.tag.empty()) show(bytes);
  const std::size_t kept = std::min<std::uint64_t>(bytes.size(), options_.most_bytes - kept_);
  kept_ += kept;
  cut_ += bytes.size() - kept;
  waiting_ += bytes.substr(0, kept);
  if (waiting_.size() >= part) write();
}

void line_output::write() {
  static output_file of_rank;
  output_file& file = options_.is_apart ? own_ : of_rank;
  if (waiting_.empty() || !error_.empty()) return waiting_.clear();
  try {
    file.open(options_.folder, options_.file, options_.is_apart);
    pieces_.push_back(file.append(waiting_));
  } catch (const std::system_error& e) {
    error_ = std::string("what it prints cannot be written to ") + e.what();
  }
  waiting_.clear();
}

void line_output::show(std::string_view bytes) {
  shown_ += bytes;
  std::string text;
  std::size_t at = 0;
  for (std::size_t end; (end = shown_.find('\n', at)) != std::string::npos; at = end + 1) {
    text += options_.tag;
    text += std::string_view(shown_).substr(at, end + 1 - at);
  }
  shown_.erase(0, at);
  (void)write_all(1, text);  // who listens may have gone
}

std::vector<piece> line_output::finish() {
  if (!shown_.empty()) show("\n");
  write();
  own_.close();
  return std::move(pieces_);
}

void print_pieces(const std::string& folder, const std::vector<piece>& pieces) {
  for (const piece& each : pieces) {
    const std::string path = folder + "/" + each.file;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::uint64_t at = each.begin, end = each.begin + each.bytes;
    char part[1 << 16];
    while (file >= 0 && at < end) {
      const ssize_t bytes = ::pread(file, part, std::min<std::uint64_t>(sizeof part, end - at), static_cast<off_t>(at));
      if (bytes <= 0) break;
      if (!write_all(1, {part, static_cast<std::size_t>(bytes)})) break;
      at += static_cast<std::uint64_t>(bytes);
    }
    const int failed = errno;
    if (file >= 0) ::close(file);
    if (file < 0) throw mistake(path + " cannot be read: " + std::strerror(failed));
    if (at < end) throw mistake(path + " is shorter than the results say, or the reader has gone");
  }
}

}  // namespace farm
