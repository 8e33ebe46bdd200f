// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "manta/serve/http_target.hpp"

namespace manta::serve::detail {

inline int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

MANTA_DECL bool append_decoded(std::string& to, std::string_view text, bool plus) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += plus && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1;
    const int low = high >= 0 ? hexadecimal(text[i + 2]) : -1;
    if (low < 0) return false;
    to += static_cast<char>(16 * high + low);
    i += 2;
  }
  return true;
}

MANTA_DECL bool parse_target(std::string_view text, http_target& out) {
  out.host.clear();
  out.path.clear();
  if (text == "*") {
    out.path = text;
    out.query.clear();
    return true;
  }
  if (!text.starts_with('/')) {
    const std::size_t scheme = text.find("://");
    if (scheme == std::string_view::npos || text.substr(0, scheme).find_first_of("/?") != std::string_view::npos)
      return false;
    text.remove_prefix(scheme + 3);
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    out.host = text.substr(0, end);
    text.remove_prefix(end);
    if (out.host.empty()) return false;
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  out.query = text.substr(std::min(question + 1, text.size()));
  if (!append_decoded(out.path, text.substr(0, question), false)) return false;
  if (out.path.empty()) out.path = "/";
  return out.path.find('\0') == std::string::npos;
}

MANTA_DECL text_pairs parse_query(std::string_view query) {
  text_pairs all;
  const auto decoded = [](std::string_view text) {
    std::string result;
    if (!append_decoded(result, text, true)) result = text;
    return result;
  };
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t sign = std::min(pair.find('='), pair.size());
    all.emplace_back(decoded(pair.substr(0, sign)), decoded(pair.substr(std::min(sign + 1, pair.size()))));
  }
  return all;
}

MANTA_DECL const std::string* find_value(const text_pairs& pairs, std::string_view name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
  return found == pairs.end() ? nullptr : &found->second;
}

MANTA_DECL bool parse_authority(std::string_view text, http_authority& out) {
  out = {};
  std::string_view host = text.substr(0, text.find(':')), rest = text.substr(host.size());
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  }
  if (host.empty()) return false;
  if (!rest.empty()) {
    const auto [end, problem] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), out.port);
    if (rest.front() != ':' || rest.size() == 1 || problem != std::errc() || end != rest.data() + rest.size() ||
        out.port < 1 || out.port > 65535)
      return false;
  }
  for (const char c : host) out.host += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  unsigned char address[16];
  const bool v6 = ::inet_pton(AF_INET6, out.host.c_str(), address) == 1;
  if (text.starts_with('[') != v6) return false;
  out.is_address = v6 || ::inet_pton(AF_INET, out.host.c_str(), address) == 1;
  return true;
}

}  // namespace manta::serve::detail
