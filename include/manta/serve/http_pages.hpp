// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server says of itself: the protocol's health and metadata, the status page and what it is fed with, metrics,
// the routes as OpenAPI, and files from a folder.
#pragma once

#include <event2/http.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/serve/http_reply.hpp"

namespace manta::serve::detail {

class route_table;

/// What the pages say of the server itself.
struct server_state {
  std::string url;
  double seconds;  ///< since it listens
  std::size_t connections;
  std::uint64_t refused;  ///< requests that have reached no route
  bool draining;
};

/// Can no route have this path? Clients and people find the same there on each server.
MANTA_DECL bool is_own_path(std::string_view path);
/// The answer to a request that no route takes. `get`: its method is GET or HEAD.
MANTA_DECL reply server_page(const route_table& routes, const server_state& server, const std::string& path, bool get);
/// Adds a file of `folder` to the answer, and nothing outside it, links included. Returns its type; null if there is no
/// such file.
MANTA_DECL const char* add_file(evhttp_request* request, const std::string& folder, const std::string& path);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_pages.ipp"
#endif
