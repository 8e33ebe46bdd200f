// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a server says of itself: health and metadata of the Open Inference Protocol, the pages for people and what
// they are fed with, metrics. A page about deployments is a call: it asks them, and waits for their answers as
// other requests do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/call.hpp"
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
  std::map<int, std::uint64_t> other_answers;  ///< that no route has given, by status
  bool needs_token;
  /// Asks the servers on other ranks what they do, in JSON; may be empty.
  std::function<std::vector<future<std::string>>()> ask_others;
};

/// Can no route have this path? Clients and people find the same there on each server.
[[nodiscard]] MANTA_DECL bool is_own_path(std::string_view path);
/// Whether GET of this path is a page whatever the routes are.
[[nodiscard]] MANTA_DECL bool is_own_page(std::string_view path);
/// Whether this path is for programs that watch the server, which have no token.
[[nodiscard]] MANTA_DECL bool is_open_path(std::string_view path);
/// Whether this is a page for people, to which other sites may lead by a link.
[[nodiscard]] MANTA_DECL bool is_page_for_people(std::string_view path);
/// The answer to GET of a path that no route takes.
[[nodiscard]] MANTA_DECL std::unique_ptr<call> server_page(const route_table& routes, const server_state& server,
                                                           const std::string& path);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_pages.ipp"
#endif
