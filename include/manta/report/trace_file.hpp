// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The trace of a run as a file, for ui.perfetto.dev and speedscope.app. A node is a process there, a rank has one row
// for its tasks and one for its waits. The file has a limit: beyond it short tasks are merged, and what was merged is
// said in the file. Its name chooses the format: trace_format.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/statistics.hpp"
#include "manta/report/trace_records.hpp"

namespace manta::report {

/// What one rank knows. Times are in nanoseconds of the clock of rank 0.
struct trace_of_rank {
  int rank = 0;
  int node = 0;
  std::string host = {};
  std::span<trace_record> records = {};  ///< records in order of time, tasks and states apart from each other
  base::vector<trace_record> own = {};   ///< the records, if nobody else keeps them
  base::vector<trace_arrow> arrows = {};
  base::vector<trace_sample> samples = {};
  std::vector<std::string> names = {};  ///< names of tasks, from number 1 on
  std::uint64_t merged_below = 0;       ///< nanoseconds; 0: nothing was merged
  unsigned arrow_rounds = 0;            ///< one of 2 to the power of this number of tasks has arrows
};

/// What is known of a run.
struct run_trace {
  std::string program = {}, job = {};
  std::uint64_t begin = 0, end = 0;  ///< nanoseconds, as in the records
  base::vector<trace_of_rank> ranks = {};
  std::vector<int> missing = {};  ///< ranks that have died or did not answer
  std::vector<std::string> functions = {};
  std::vector<phase_statistics> phases = {};
  double clock_error = 0;  ///< seconds by which the clocks of two nodes may differ after they were aligned
};

/// What stands in a file.
struct trace_totals {
  std::uint64_t bytes = 0;
  std::uint64_t slices = 0;
  std::uint64_t tasks = 0;  ///< runs of tasks: further attempts, calls and members of gangs too
  std::uint64_t arrows = 0;
  std::uint64_t arrows_left_out = 0;   ///< a task of theirs is not shown by itself, or both were short and on one rank
  std::uint64_t arrows_backwards = 0;  ///< arrows whose value was used before it was made, by the clocks
};

/// Throws if a file of this name would have a format that this library cannot write.
MANTA_DECL void check_trace_format(const std::string& path);

/// Writes the file, which is replaced at once. It has `most_bytes` bytes at most; records are merged for that. Throws
/// if it cannot be written.
MANTA_DECL trace_totals write_trace(const std::string& path, run_trace& run, std::uint64_t most_bytes);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_file.ipp"
#endif
