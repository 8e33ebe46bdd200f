// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The arrows of a trace: from the task that made a value to each task that has it as an input, on whatever ranks.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/trace_file.hpp"

namespace manta::report {

/// An end of an arrow.
struct arrow_end {
  std::uint64_t at = 0;
  std::uint32_t rank = 0;
  std::uint32_t number = 0;  ///< number of the arrow
  bool is_begin = false;
};

/// The ends of all arrows of a run that are shown, and in `totals` how many there are. The run keeps none.
MANTA_DECL base::vector<arrow_end> find_arrows(run_trace& run, trace_totals& totals);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_arrows.ipp"
#endif
