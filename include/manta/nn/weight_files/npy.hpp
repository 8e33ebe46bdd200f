// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The header of an npy file, NumPy's format of one array.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/text.hpp"

namespace manta::nn::detail {

struct npy_header {
  std::string type;                   ///< as NumPy names it, without quotes: "<f4"
  std::vector<std::int64_t> extents;  ///< the last extent fastest, unless
  bool first_is_fastest = false;
  std::uint64_t size = 0;  ///< size of the header: where the numbers begin
};

/// What follows after `key`, up to one of `ends`.
inline std::string npy_value(std::string_view header, const std::string& key, const char* ends) {
  const std::size_t found = header.find("'" + key + "':");
  if (found == std::string_view::npos) return "";
  const std::size_t begin = header.find_first_not_of(' ', found + key.size() + 3);
  if (begin == std::string_view::npos) return "";
  return std::string(header.substr(begin, header.find_first_of(ends, begin) - begin));
}

/// The header of the array whose file is `bytes`, or begins it. `bad(offset, expected, found)` throws.
template <class Bad>
npy_header read_npy_header(std::string_view bytes, const Bad& bad) {
  if (bytes.substr(0, 6) != "\x93NUMPY" || bytes.size() < 12) bad(0, "an npy file", "other bytes");
  const std::size_t width = bytes[6] == 1 ? 2 : 4;
  std::uint64_t text = 0;
  std::memcpy(&text, bytes.data() + 8, width);
  npy_header h;
  h.size = 8 + width + text;
  if (h.size > bytes.size()) bad(8 + width, base::text("{} bytes of a header", text), "the end of the file");
  const std::string_view header = bytes.substr(8 + width, text);
  h.type = npy_value(header, "descr", ",}");
  if (h.type.size() >= 2) h.type = h.type.substr(1, h.type.size() - 2);
  h.first_is_fastest = npy_value(header, "fortran_order", ",}") == "True";
  const std::string tuple = npy_value(header, "shape", ")");
  for (const char* c = tuple.c_str(); *c != '\0';) {
    char* end = nullptr;
    const long long extent = std::strtoll(c, &end, 10);
    if (end != c) h.extents.push_back(extent);
    c = end == c ? c + 1 : end;
  }
  return h;
}

}  // namespace manta::nn::detail
