// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rows of a trace beside those of the ranks: one for each actor with a name, with its calls, and some for gangs. A
// gang is one slice there, from its first member's begin to its last one's end.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/trace_file.hpp"

namespace manta::report {

struct extra_row {
  int node = 0;
  int tid = 0;  ///< its number in the file: an even one, above those of the ranks
  std::string name = {};
};

/// A call, or a gang.
struct extra_slice {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t row = 0;   ///< its place in extra_rows::rows
  std::uint32_t rank = 0;  ///< the place in run_trace::ranks of the one where it began
  std::uint32_t function = 0;
  std::uint32_t members = 0;  ///< members of a gang; 0: it is a call
};

struct extra_rows {
  base::vector<extra_row> rows = {};
  base::vector<extra_slice> slices = {};  ///< those of a row are in order of time, and do not overlap
};

/// The rows of the records that are not merged.
MANTA_DECL extra_rows find_extra_rows(const run_trace& run);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_rows.ipp"
#endif
