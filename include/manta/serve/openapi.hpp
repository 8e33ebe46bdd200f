// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The routes of a server as OpenAPI 3.1 describes them, for /openapi.json.
#pragma once

#include <string>

#include "manta/base/config.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"

namespace manta::serve::detail {

[[nodiscard]] MANTA_DECL std::string openapi_text(const route_table& routes, const server_state& server);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/openapi.ipp"
#endif
