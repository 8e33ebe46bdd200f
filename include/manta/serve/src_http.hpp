// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The server of HTTP, compiled once in the compiled mode (base/config.hpp). manta/src.hpp includes this file.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/serve/src_http.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<nlohmann/json.hpp>)

#include "manta/serve/dashboard.ipp"
#include "manta/serve/dashboard_server.ipp"
#include "manta/serve/http.ipp"
#include "manta/serve/source_http.hpp"

namespace manta::serve {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_nlohmann_json_for_http);
}

#endif
