// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of http_guard.hpp.
#pragma once

#include <arpa/inet.h>
#include <event2/http.h>
#include <event2/http_struct.h>  // after http.h
#include <event2/keyvalq_struct.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "manta/serve/http_guard.hpp"

namespace manta::serve::detail {

MANTA_DECL std::string header_of(evhttp_request* request, const char* name) {
  const char* const value = ::evhttp_find_header(::evhttp_request_get_input_headers(request), name);
  return value != nullptr ? value : "";
}

/// Why the fields of the request leave open where it ends; null if they do not.
inline const char* ambiguity(evhttp_request* request) {
  if (request->major != 1 || request->minor < 0 || request->minor > 1) {  // libevent would answer in that version
    request->major = request->minor = 1;
    return "the version is neither HTTP/1.0 nor HTTP/1.1";
  }
  int lengths = 0, codings = 0, hosts = 0, fields = 0;
  for (const evkeyval* field = ::evhttp_request_get_input_headers(request)->tqh_first; field != nullptr;
       field = field->next.tqe_next) {
    const std::string_view name = field->key, value = field->value;
    if (++fields > 100) return "there are more than 100 header fields";
    if (name.find_first_of(" \t\r\n\v\f") != std::string_view::npos || name.empty())
      return "a name of a header field has spaces";
    if (value.find_first_of("\r\n") != std::string_view::npos) return "a header field goes on in the next line";
    if (::strcasecmp(field->key, "Content-Length") == 0) {
      ++lengths;
      if (value.empty() || value.size() > 18 || value.find_first_not_of("0123456789") != std::string_view::npos)
        return "Content-Length is no number";
    } else if (::strcasecmp(field->key, "Transfer-Encoding") == 0) {
      ++codings;
      if (::strcasecmp(field->value, "chunked") != 0) return "the only Transfer-Encoding is \"chunked\"";
    } else if (::strcasecmp(field->key, "Host") == 0) {
      ++hosts;
    }
  }
  if (lengths + codings > 1) return "there is more than one of Content-Length and Transfer-Encoding";
  if (hosts > 1) return "there is more than one Host";
  return nullptr;
}

inline bool same_secret(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i] ^ b[i < b.size() ? i : 0]);
  return different == 0;
}

/// A page of another site that a browser on this machine shows could else talk to us, by a name that leads here.
inline bool is_known_host(const http_options& options, std::string host) {
  if (host.front() == '[') {
    host = host.substr(1, host.find(']') - 1);
  } else if (const std::size_t colon = host.find(':'); colon != std::string::npos) {
    host.resize(colon);
  }
  unsigned char address[16];
  if (::inet_pton(AF_INET, host.c_str(), address) == 1 || ::inet_pton(AF_INET6, host.c_str(), address) == 1)
    return true;
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  const std::string_view own = name;
  std::vector<std::string> known{"localhost", name, std::string(own.substr(0, own.find('.')))};
  known.insert(known.end(), options.hosts.begin(), options.hosts.end());
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& each) { return ::strcasecmp(each.c_str(), host.c_str()) == 0; });
}

MANTA_DECL bool refuse_request(const http_options& options, evhttp_request* request, reply& answer) {
  if (const char* const why = ambiguity(request)) {
    answer = failure(400, why);
    answer.header.emplace_back("Connection", "close");
    return true;
  }
  if (options.socket.empty()) {
    const std::string host = header_of(request, "Host"), origin = header_of(request, "Origin");
    const char* const in_line =
        ::evhttp_uri_get_host(::evhttp_request_get_evhttp_uri(request));  // GET http://host/path
    if (in_line != nullptr && *in_line != '\0' && !is_known_host(options, in_line)) {
      answer = failure(403, "the address asks for another host, \"" + shown(in_line) + "\"");
      return true;
    }
    if (host.empty()) {
      answer = failure(400, "the field Host is missing");
      return true;
    }
    if (!is_known_host(options, host)) {
      answer = failure(
          403, "Host: this server is not known as \"" + shown(host) + "\"; add the name to .hosts of serve::http");
      return true;
    }
    const std::size_t begin = origin.find("://");
    if (begin != std::string::npos &&
        (begin + 3 == origin.size() || !is_known_host(options, origin.substr(begin + 3)))) {
      answer = failure(403, "Origin: pages of \"" + shown(origin) +
                                "\" may not ask this server; add the name to .hosts of serve::http");
      return true;
    }
  }
  if (!options.token.empty()) {
    const std::string given = header_of(request, "Authorization");
    std::string token = given.size() > 7 && ::strncasecmp(given.c_str(), "Bearer ", 7) == 0 ? given.substr(7) : "";
    const char* const query = ::evhttp_uri_get_query(::evhttp_request_get_evhttp_uri(request));
    evkeyvalq values{};
    if (token.empty() && query != nullptr && ::evhttp_parse_query_str(query, &values) == 0) {
      const char* const found = ::evhttp_find_header(&values, "token");
      token = found != nullptr ? found : "";
      ::evhttp_clear_headers(&values);
    }
    if (!same_secret(token, options.token)) {
      answer = failure(401, "a token is needed: Authorization: Bearer TOKEN");
      answer.header.emplace_back("WWW-Authenticate", "Bearer");
      return true;
    }
  }
  return false;
}

}  // namespace manta::serve::detail
