// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server of HTTP sends back, and the clock by which it measures.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

MANTA_DECL std::int64_t clock_ns();
template <class Duration>
std::int64_t in_ns(Duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

/// An answer. A file, if there is one, is the body.
struct reply {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";  ///< empty: there is no Content-Type
  std::vector<std::pair<std::string, std::string>> header = {};
  int file = -1;              ///< an open descriptor, which is closed when it has been sent
  std::size_t file_size = 0;  ///< bytes of it
};

/// The words behind the status in the first line of an answer.
MANTA_DECL const char* reason(int status);
/// The moment as a header field writes it: "Fri, 27 Nov 2026 16:02:07 GMT". Kept for a second.
MANTA_DECL const std::string& http_date();

/// What a client has sent, for a text that goes back to it: the beginning, if it is long.
MANTA_DECL std::string shown(std::string_view text);
/// An answer that says what was wrong: {"error": why}.
MANTA_DECL reply failure(int status, const std::string& why);
/// Why an answer of a function's cannot be sent: a status that is none of an answer, a header field that would end
/// before its end or that the server sets itself. Empty: it can.
MANTA_DECL std::string why_not_sent(const reply& answer);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_reply.ipp"
#endif
