// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank does at this moment, as bytes for rank 0 and back
// (report/run_state.hpp).
#pragma once

#include "manta/base/config.hpp"
#include "manta/exec/account/rank_report.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/report/run_state.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::exec {

struct rank_parts;

/// What this rank does. `in_user_code`: its own thread is there, in a task or in the driver.
MANTA_DECL report::task_numbers numbers_of(rank_parts& all);
MANTA_DECL report::rank_situation situation_of(rank_parts& all, bool in_user_code);
/// What this rank is and has, for the statistics of the run.
MANTA_DECL rank_facts facts_of(rank_parts& all);
/// Appends a situation.
MANTA_DECL void write_situation(wire::buffer& out, const report::rank_situation& s);
/// Reads what write_situation has written.
MANTA_DECL report::rank_situation read_situation(wire::source& in);

}  // namespace manta::exec
