// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/serve/dashboard.hpp"
#include "manta/serve/dashboard_server.hpp"

namespace manta {

MANTA_DECL dashboard::dashboard(dashboard_options options)
    : server_(std::make_unique<serve::detail::dashboard_server>(options)) {}
MANTA_DECL dashboard::~dashboard() = default;
MANTA_DECL int dashboard::port() const { return server_->port(); }
MANTA_DECL std::string dashboard::url() const { return server_->url(); }

}  // namespace manta
