// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A message that has arrived goes to the part that handles its kind: a table, by
// conversation, in handlers.ipp.
#pragma once

#include <cstddef>

#include "manta/base/config.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

struct rank_parts;

/// Counts the message, and calls the handler of its kind; between runs it is kept. What a dead rank has sent
/// is thrown away.
MANTA_DECL void handle_message(rank_parts& all, rank_id from, message kind, const std::byte* data, std::size_t bytes);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/handlers.ipp"
#endif
