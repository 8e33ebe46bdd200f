// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "manta/base/text.hpp"
#include "manta/serve/http_guard.hpp"

namespace manta::serve::detail {

inline bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& each) { return same_word(each, name); });
}

MANTA_DECL std::string random_digits(int words) {
  std::random_device device;
  std::string digits;
  for (int i = 0; i < words; ++i) {
    char text[16] = "";
    std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(device()));
    digits += text;
  }
  return digits;
}

MANTA_DECL http_guard::http_guard(const http_options& options) : options_(options) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string own = name;
  own_names_ = {"localhost", own, own.substr(0, own.find('.'))};
}

/// Whether this is a name of this machine, or one that the options give. Any address is one: what names lead here by a
/// trick (DNS rebinding) are names.
inline bool http_guard::is_known(const http_authority& host) const {
  return host.is_address || has_name(own_names_, host.host) || has_name(options_.hosts, host.host);
}

MANTA_DECL bool http_guard::may_read(std::string_view origin) const {
  return has_name(options_.cors, "*") || has_name(options_.cors, origin);
}

/// Whether pages of this origin may ask: its scheme, host and port are ours, or the options name it.
inline bool http_guard::may_ask(std::string_view origin, std::string_view host) const {
  if (may_read(origin)) return true;
  const std::size_t end = origin.find("://");
  http_authority of_origin, of_host;
  if (end == std::string_view::npos || !parse_authority(origin.substr(end + 3), of_origin)) return false;
  if (has_name(options_.hosts, of_origin.host)) return true;
  const std::string_view scheme = origin.substr(0, end);
  const auto port_of = [&](const http_authority& a) { return a.port != 0 ? a.port : scheme == "https" ? 443 : 80; };
  const bool is_socket = !options_.socket.empty();  // behind a proxy or a tunnel, whose scheme we do not know
  if (!is_socket && scheme != (options_.tls ? "https" : "http")) return false;
  if (parse_authority(host, of_host) && of_host.host == of_origin.host && port_of(of_host) == port_of(of_origin))
    return true;
  const bool is_here = has_name(own_names_, of_origin.host) || of_origin.host == "127.0.0.1" ||
                       of_origin.host == "::1" || same_word(of_origin.host, options_.address);
  return !is_socket && is_here && port_of(of_origin) == port_;
}

inline bool http_guard::refuses_host(const http_message& request, const http_target& target, reply& answer) const {
  http_authority named;
  if (!target.host.empty() && !(parse_authority(target.host, named) && is_known(named))) {
    answer = failure(403, base::text("the address asks for another host, \"{}\"", shown(target.host)));
    return true;
  }
  const std::string_view host = request.field("Host");
  if (host.empty() && request.minor() == 0) return false;  // a probe of a proxy; no browser asks so
  if (host.empty()) {
    answer = failure(400, "the field Host is missing");
    return true;
  }
  if (!(parse_authority(host, named) && is_known(named))) {
    answer = failure(403, base::text("Host: this server is not known as \"{}\"; add the name to .hosts of serve::http",
                                     shown(host)));
    return true;
  }
  return false;
}

inline bool http_guard::refuses_site(const http_message& request, bool is_page, reply& answer) const {
  const std::string_view origin = request.field("Origin");
  if (!origin.empty()) {
    if (may_ask(origin, request.field("Host"))) return false;
    answer = failure(403, base::text("Origin: pages of \"{}\" may not ask this server; add the name to .hosts, or the "
                                     "origin to .cors, of serve::http",
                                     shown(origin)));
    return true;
  }
  const std::string_view site = request.field("Sec-Fetch-Site");
  if (site.empty() || site == "same-origin" || site == "none") return false;
  if (is_page && request.field("Sec-Fetch-Mode") == "navigate") return false;
  answer = failure(403, "Sec-Fetch-Site: pages of other sites may not ask this server");
  return true;
}

/// Takes as long for any two texts of this length.
inline bool is_same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i < b.size() ? i : 0]);
  return different == 0;
}

inline bool http_guard::has_token(const http_message& request, const http_target& target) const {
  const std::string_view given = request.field("Authorization");
  if (given.size() > 7 && same_word(given.substr(0, 7), "Bearer "))
    return is_same_secret(given.substr(7), options_.token);
  const text_pairs query = parse_query(target.query);
  const std::string* const in_query = find_value(query, "token");
  return in_query != nullptr && is_same_secret(*in_query, options_.token);
}

MANTA_DECL bool http_guard::refuses(const http_message& request, const http_target& target, bool is_open, bool is_page,
                                    reply& answer) const {
  if (options_.socket.empty() && refuses_host(request, target, answer)) return true;
  if (refuses_site(request, is_page, answer)) return true;
  if (options_.token.empty() || is_open || has_token(request, target)) return false;
  answer = failure(401, "a token is needed: Authorization: Bearer TOKEN");
  answer.header.emplace_back("WWW-Authenticate", "Bearer");
  return true;
}

}  // namespace manta::serve::detail
