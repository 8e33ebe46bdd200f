// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of serve, model serving, compiled once in the compiled mode (base/config.hpp). manta/src.hpp includes
// this file. A build that defines MANTA_SOURCES_APART compiles this file as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/serve/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#include "manta/serve/call_turns.ipp"
#include "manta/serve/dispatcher.ipp"
#include "manta/serve/failed_batches.ipp"
#include "manta/serve/heartbeat.ipp"
#include "manta/serve/http_error.ipp"
#include "manta/serve/options.ipp"
#include "manta/serve/replica.ipp"
#include "manta/serve/replica_health.ipp"
#include "manta/serve/replica_places.ipp"
#include "manta/serve/replica_set.ipp"
#include "manta/serve/replica_table.ipp"
#include "manta/serve/request_flow.ipp"
#include "manta/serve/rolling_update.ipp"
#include "manta/serve/router.ipp"
#include "manta/serve/settings.ipp"
#include "manta/serve/versions.ipp"
#include "manta/serve/waiting_calls.ipp"
#include "manta/serve/waiting_request.ipp"
#include "manta/serve/waiting_rows.ipp"
#include "manta/serve/waiting_stream.ipp"

namespace manta::serve {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp);
}
