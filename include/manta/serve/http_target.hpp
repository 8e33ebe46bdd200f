// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a request asks for: the target of its first line in parts, and texts that are written in the manner of
// addresses (%20, a=1&b=2).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::serve::detail {

using text_pairs = std::vector<std::pair<std::string, std::string>>;

struct http_target {
  std::string host = {};   ///< host with its port, of a target with a host: "http://host/path"; else empty
  std::string path = {};   ///< decoded path
  std::string query = {};  ///< text behind the "?", not decoded
};

/// False if this is no target of a request, or its path has a zero.
[[nodiscard]] MANTA_DECL bool parse_target(std::string_view text, http_target& out);
/// Appends the text without its escapes (%41 is A). False if an escape is wrong. `plus`: a "+" is a space.
[[nodiscard]] MANTA_DECL bool append_decoded(std::string& to, std::string_view text, bool plus);
/// The values of "a=1&b=2&b=3", in their order. Pairs that cannot be decoded are kept as they came.
[[nodiscard]] MANTA_DECL text_pairs parse_query(std::string_view query);
/// The first value of this name; null if there is none.
[[nodiscard]] MANTA_DECL const std::string* find_value(const text_pairs& pairs, std::string_view name);

/// A host and a port: "localhost:8000", "[::1]:8000", "name". The port is 0 if there is none.
struct http_authority {
  std::string host = {};  ///< without brackets, in small letters
  int port = 0;
  bool is_address = false;  ///< whether it is an address of IPv4 or IPv6
};
/// False if the text is none.
[[nodiscard]] MANTA_DECL bool parse_authority(std::string_view text, http_authority& out);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_target.ipp"
#endif
