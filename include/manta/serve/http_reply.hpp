// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server of HTTP sends back at once, and the clock by which it measures.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/output/row.hpp"

namespace manta::serve::detail {

inline std::int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
template <class Duration>
std::int64_t in_ns(Duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

/// What is sent back at once.
struct reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> header = {};
};

/// What a client has sent, for a text that goes back to it: the beginning, if it is long.
inline std::string shown(const std::string& text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // between characters
  return text.substr(0, end) + "...";
}

inline reply failure(int status, const std::string& why) {
  std::string body = "{\"error\":";
  output::append_json_text(body, why);  // whatever its bytes are
  return {status, body + "}"};
}

}  // namespace manta::serve::detail
