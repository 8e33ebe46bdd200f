// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files of weights as bytes: reading with checks that know the offset, and writing whole files.
#pragma once

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"

namespace manta::nn::detail {

static_assert(std::endian::native == std::endian::little, "files of weights are little-endian");

inline bool is_npz(const std::string& path) {
  if (path.ends_with(".npz")) return true;
  if (path.ends_with(".safetensors")) return false;
  throw error(base::text("manta: nn: {}: the name of a file of weights ends in .npz or .safetensors", path));
}

inline std::string extents_text(const std::vector<std::int64_t>& extents) {
  std::string s;
  for (std::int64_t e : extents) s += (s.empty() ? "" : " x ") + std::to_string(e);
  return s.empty() ? "one number" : s;
}

/// The bytes of a number of a type, which end the type's name as a number of bits; 0: the type is unknown.
inline std::size_t bytes_of_type(std::string_view type) {
  if (type == "BOOL" || type.starts_with("F8")) return 1;
  if (type.ends_with("16")) return 2;
  if (type.ends_with("32")) return 4;
  if (type.ends_with("64")) return 8;
  return type.ends_with("8") ? 1 : 0;
}

/// The bytes that an array of these extents has; 2^64 - 1 where that is no number of bytes.
inline std::uint64_t bytes_of_array(const std::vector<std::int64_t>& extents, std::size_t each) {
  std::uint64_t n = each;
  for (std::int64_t e : extents) {
    if (e < 0 || __builtin_mul_overflow(n, static_cast<std::uint64_t>(e), &n)) return ~std::uint64_t{0};
  }
  return n;
}

/// A file that was read into memory.
class input_file {
 public:
  explicit input_file(const std::string& path) : path_(path) {
    std::FILE* const f = std::fopen(path.c_str(), "rb");
    if (!f) throw error(base::text("manta: nn: {} cannot be read: {}", path, std::strerror(errno)));
    char block[1 << 16];
    for (std::size_t n = 0; (n = std::fread(block, 1, sizeof block, f)) > 0;) bytes_.append(block, n);
    const bool failed = std::ferror(f) != 0;
    std::fclose(f);
    if (failed) throw error(base::text("manta: nn: {} cannot be read: {}", path, std::strerror(errno)));
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[noreturn]] void bad(std::uint64_t offset, const std::string& expected, const std::string& found) const {
    throw error(base::text("manta: nn: {}, offset {}: expected {}, found {}", path_, offset, expected, found));
  }
  /// Throws if the file ends before.
  [[nodiscard]] std::string_view part(std::uint64_t offset, std::uint64_t count, const std::string& what) const {
    if (offset > size() || count > size() - offset)
      bad(offset, base::text("{} bytes of {}", count, what), base::text("the end of the file at {}", size()));
    return std::string_view(bytes_).substr(offset, count);
  }
  /// A little-endian number of the given number of bytes.
  [[nodiscard]] std::uint64_t number(std::uint64_t offset, std::size_t bytes, const std::string& what) const {
    std::uint64_t n = 0;
    std::memcpy(&n, part(offset, bytes, what).data(), bytes);
    return n;
  }
  [[nodiscard]] std::size_t last(std::string_view text) const { return bytes_.rfind(text); }

 private:
  std::string path_, bytes_;
};

inline void add_number(std::string& to, std::uint64_t n, std::size_t bytes) {
  to.append(reinterpret_cast<const char*>(&n), bytes);
}

/// The file appears under its name when all of it is written.
inline void write_whole(const std::string& path, const std::string& bytes) {
  const std::string part = path + ".part";
  std::FILE* const f = std::fopen(part.c_str(), "wb");
  bool written = f && std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  int why = errno;
  if (f && std::fclose(f) != 0) written = false, why = errno;
  if (written && std::rename(part.c_str(), path.c_str()) != 0) written = false, why = errno;
  if (written) return;
  std::remove(part.c_str());
  throw error(base::text("manta: nn: {} cannot be written: {}", path, std::strerror(why)));
}

}  // namespace manta::nn::detail
