// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <ctime>

#include "manta/base/text.hpp"
#include "manta/output/row.hpp"
#include "manta/serve/http_message.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

MANTA_DECL std::int64_t clock_ns() { return in_ns(std::chrono::steady_clock::now().time_since_epoch()); }

MANTA_DECL const char* reason(int status) {
  static constexpr std::pair<int, const char*> known[] = {{100, "Continue"},
                                                          {200, "OK"},
                                                          {201, "Created"},
                                                          {202, "Accepted"},
                                                          {204, "No Content"},
                                                          {206, "Partial Content"},
                                                          {301, "Moved Permanently"},
                                                          {302, "Found"},
                                                          {303, "See Other"},
                                                          {304, "Not Modified"},
                                                          {307, "Temporary Redirect"},
                                                          {308, "Permanent Redirect"},
                                                          {400, "Bad Request"},
                                                          {401, "Unauthorized"},
                                                          {403, "Forbidden"},
                                                          {404, "Not Found"},
                                                          {405, "Method Not Allowed"},
                                                          {406, "Not Acceptable"},
                                                          {408, "Request Timeout"},
                                                          {409, "Conflict"},
                                                          {410, "Gone"},
                                                          {412, "Precondition Failed"},
                                                          {413, "Content Too Large"},
                                                          {415, "Unsupported Media Type"},
                                                          {417, "Expectation Failed"},
                                                          {422, "Unprocessable Content"},
                                                          {429, "Too Many Requests"},
                                                          {500, "Internal Server Error"},
                                                          {501, "Not Implemented"},
                                                          {502, "Bad Gateway"},
                                                          {503, "Service Unavailable"},
                                                          {504, "Gateway Timeout"}};
  for (const auto& [each, words] : known) {
    if (each == status) return words;
  }
  return status < 400 ? "OK" : status < 500 ? "Bad Request" : "Internal Server Error";
}

MANTA_DECL const std::string& http_date() {
  static thread_local std::time_t of = 0;  // a dashboard has a thread of its own
  static thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != of) {
    of = now;
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char line[64] = "";
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::snprintf(line, sizeof line, "%s, %02d %s %d %02d:%02d:%02d GMT", days[parts.tm_wday], parts.tm_mday,
                  months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    text = line;
  }
  return text;
}

MANTA_DECL std::string shown(std::string_view text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // between characters
  return std::string(text.substr(0, end)) + "...";
}

MANTA_DECL reply failure(int status, const std::string& why) {
  reply answer{.status = status, .body = "{\"error\":"};
  output::append_json_text(answer.body, why);  // whatever its bytes are
  answer.body += '}';
  return answer;
}

MANTA_DECL std::string why_not_sent(const reply& answer) {
  if (answer.status < 200 || answer.status > 599)
    return base::text("the function answered with the status {}; those of an answer are 200 to 599", answer.status);
  if (has_control(answer.type)) return "the function answered with a type that has a line break in it";
  for (const auto& [name, value] : answer.header) {
    if (!is_token(name) || has_control(value))
      return base::text("the function answered with the header field \"{}\", whose {}", shown(name),
                        is_token(name) ? "value has a line break in it" : "name is none");
    for (const char* const own : {"Content-Length", "Transfer-Encoding", "Connection", "Content-Type", "Date"}) {
      if (same_word(name, own))
        return base::text("the function answered with the header field {}, which the server sets{}", own,
                          same_word(name, "Content-Type") ? " from the answer's type" : "");
    }
  }
  return "";
}

}  // namespace manta::serve::detail
