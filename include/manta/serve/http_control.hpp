// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Changes to the deployments behind a server, for people and scripts:
//
//   POST /api/deployments/NAME/update     {"weight": 0.1}   a new version, or a canary if the weight is below 1: the
//                                                           constructors run again
//   POST /api/deployments/NAME/canary     {"weight": 0.5}   the canary's part of the requests
//   POST /api/deployments/NAME/promote                      the canary becomes the version
//   POST /api/deployments/NAME/rollback                     the canary goes
//   POST /api/deployments/NAME/check                        replicas are asked for their health
//   POST /api/deployments/NAME/drain                        no more requests
//
// Each is answered when it is done. The program scripts/manta-serve sends these requests.
#pragma once

#include <memory>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/serve/call.hpp"

namespace manta::serve::detail {

class route_table;

[[nodiscard]] MANTA_DECL bool is_control_path(std::string_view path);
/// The change that a path and a body ask for. Throws json_error if the body does not fit. `may_change`: changes are
/// allowed, for nobody but the owner can ask this server.
[[nodiscard]] MANTA_DECL std::unique_ptr<call> control_call(const route_table& routes, std::string_view path,
                                                            std::string_view body, bool may_change);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/http_control.ipp"
#endif
