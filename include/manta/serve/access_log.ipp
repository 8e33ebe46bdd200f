// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/row.hpp"
#include "manta/serve/access_log.hpp"

namespace manta::serve::detail {

MANTA_DECL void access_log::open(const std::string& path, bool as_json) {
  as_json_ = as_json;
  file_ = path == "-" ? ::dup(STDERR_FILENO) : ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
  if (file_ < 0)
    throw error(base::text("manta: serve::http: cannot write .access_log {}: {}", path, std::strerror(errno)));
}

MANTA_DECL access_log::~access_log() {
  if (file_ < 0) return;
  flush();
  ::close(file_);
}

/// A text of a client between quotes: what could end the line, or the quotes, is escaped.
inline void append_quoted(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' || c == '\x7f') {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += escape;
    } else {
      out += c;
    }
  }
}

inline void append_common(std::string& out, const log_entry& e, const std::tm& at) {
  char time[40] = "";
  std::strftime(time, sizeof time, "%d/%b/%Y:%H:%M:%S %z", &at);
  char took[24] = "";
  std::snprintf(took, sizeof took, "%.6f", e.seconds);
  out += base::text("{} - - [{}] \"", e.client, std::string_view(time));
  append_quoted(out, e.method);
  out += ' ';
  append_quoted(out, e.target);
  out += base::text(" HTTP/1.1\" {} {} {}", e.status, e.bytes, std::string_view(took));
  out += e.id.empty() ? " -" : base::text(" {}", e.id);
  if (!e.problem.empty()) {
    out += " \"";
    append_quoted(out, e.problem);
    out += '"';
  }
  out += '\n';
}

inline void append_json_entry(std::string& out, const log_entry& e, const std::tm& at) {
  char time[40] = "";
  std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S%z", &at);
  const output::field fields[] = {{"time", std::string_view(time)},
                                  {"client", e.client},
                                  {"method", e.method},
                                  {"path", e.target},
                                  {"status", e.status},
                                  {"bytes", e.bytes},
                                  {"seconds", e.seconds},
                                  {"id", e.id},
                                  {"agent", e.agent},
                                  {"problem", e.problem}};
  char separator = '{';
  for (const output::field& each : fields) {
    if (each.value.is_text() && each.value.text().empty()) continue;
    out += std::exchange(separator, ',');
    output::append_json_text(out, each.name);
    out += ':';
    each.value.append_json(out);
  }
  out += "}\n";
}

MANTA_DECL void access_log::write(const log_entry& e) {
  const std::time_t now = std::time(nullptr);
  std::tm at{};
  ::localtime_r(&now, &at);
  as_json_ ? append_json_entry(lines_, e, at) : append_common(lines_, e, at);
  constexpr std::size_t many = 64 * 1024;
  if (lines_.size() > many) flush();
}

MANTA_DECL void access_log::flush() {
  for (std::size_t at = 0; at < lines_.size();) {
    const ssize_t count = ::write(file_, lines_.data() + at, lines_.size() - at);
    if (count <= 0) break;  // such as a full disk: the server goes on
    at += static_cast<std::size_t>(count);
  }
  lines_.clear();
}

}  // namespace manta::serve::detail
