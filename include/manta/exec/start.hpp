// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a rank starts, together with all others: they compare their programs, tell each
// other what they have, and connect. Each function is collective and throws on all
// ranks if one of them has found a mistake.
#pragma once

#include "manta/exec/layers.hpp"
#include "manta/exec/rank/engine_options.hpp"

namespace manta::exec {

/// Throws if not all ranks run the same program.
MANTA_DECL void compare_programs(const rank_stores& rank);
/// Tells all ranks what each offers. The settings of rank 0 that hold for all replace those in `options`.
MANTA_DECL void share_settings(rank_stores& rank, engine_options& options);
/// Opens the journal, if one is asked for. Throws if a rank cannot use the folder.
MANTA_DECL void open_journal(rank_parts& all, const engine_options& options);
/// Connects all ranks with rank 0, so that it notices deaths, if the program is to go on after them. Comes last of what
/// can fail, for its thread looks at the network, which a failure would destroy.
MANTA_DECL void connect_lifelines(rank_parts& all, const engine_options& options);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/start.ipp"
#endif
