// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A file that is too long to be kept in memory, and that a reader sees whole or not at all.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "manta/base/error.hpp"
#include "manta/output/append_file.hpp"

namespace manta::report {

/// A file that takes the place of another one when it is complete.
class file_replacement {
 public:
  explicit file_replacement(const std::string& path) : target_(output::target_of(path)) {
    const int descriptor = target_.open();
    file_ = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
    if (file_ == nullptr) fail();
  }
  ~file_replacement() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    target_.drop();
  }
  file_replacement(const file_replacement&) = delete;
  file_replacement& operator=(const file_replacement&) = delete;

  /// The text that comes next: append to it, then call written().
  std::string& text() { return text_; }
  void written() {
    if (text_.size() >= most_text) flush();
  }
  /// The file is complete. Returns its size.
  std::uint64_t finish() {
    flush();
    std::FILE* const file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0 || !target_.finish()) fail();
    return bytes_;
  }

 private:
  static constexpr std::size_t most_text = 1 << 16;

  void flush() {
    if (std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size()) fail();
    bytes_ += text_.size();
    text_.clear();
  }
  [[noreturn]] void fail() {
    const int code = errno;
    if (std::FILE* const file = std::exchange(file_, nullptr); file != nullptr) std::fclose(file);
    target_.drop();
    throw error(target_.complaint(code));
  }

  output::file_target target_;
  std::string text_;
  std::FILE* file_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace manta::report
