// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The figures of a server: as JSON for the status page and for programs, and in Prometheus' text format.
#pragma once

#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/http_pages.hpp"
#include "manta/serve/http_routes.hpp"
#include "manta/serve/status_call.hpp"

namespace manta::serve::detail {

/// `others`: what servers on other ranks say of themselves, as server_text.
[[nodiscard]] MANTA_DECL std::string status_text(const route_table& routes, const server_state& server,
                                                 const std::vector<deployment_report>& deployments,
                                                 const std::vector<std::string>& others);
/// What the server does itself, as an object in the status.
[[nodiscard]] MANTA_DECL std::string server_text(const route_table& routes, const server_state& server);
[[nodiscard]] MANTA_DECL std::string metrics_text(const route_table& routes, const server_state& server,
                                                  const std::vector<deployment_report>& deployments);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_metrics.ipp"
#endif
