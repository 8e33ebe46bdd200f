// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "manta/base/error.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/crc32c.hpp"
#include "manta/output/saved_state.hpp"

namespace manta::output {

namespace detail {
inline constexpr std::uint32_t state_mark = 0x31544d4d;  // "MMT1"
}

MANTA_DECL void write_state(const std::string& path, const std::string& kind, const std::string& bytes) {
  if (const std::size_t end = path.rfind('/'); end != std::string::npos && end > 0) make_folders(path.substr(0, end));
  replace_file(path, pack(detail::state_mark, kind, crc32c(bytes), bytes));
}

MANTA_DECL std::string read_state(const std::string& path, const std::string& kind) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  const bool has_content = file && content << file.rdbuf();
  if (!file || (!has_content && errno != 0))  // an empty file has no content, and no error
    throw error("manta: cannot read the checkpoint " + path + ": " + std::strerror(errno));
  std::uint32_t mark = 0, sum = 0;
  std::string found, bytes;
  try {
    unpack(content.str(), mark, found, sum, bytes);
  } catch (const std::exception&) {
    mark = 0;
  }
  if (mark != detail::state_mark || sum != crc32c(bytes))
    throw error("manta: the checkpoint " + path + " is damaged, or is no checkpoint; take another one");
  if (found != kind && !found.starts_with(kind + " "))
    throw error("manta: " + path + " is a checkpoint of " + found + "; one of " + kind + " is wanted");
  return bytes;
}

}  // namespace manta::output
