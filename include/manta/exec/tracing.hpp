// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The trace of a run as a file (MANTA_TRACE). Each rank keeps the records of its own
// tasks (account/task_trace.hpp). At the end of the run rank 0 asks for them, no more
// than fit into the file, and writes it. The ranks of a node share a clock. Those of
// other nodes are compared with rank 0's by round trips at the begin and at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/engine_options.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/survey.hpp"
#include "manta/report/trace_file.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::exec {

struct rank_parts;

class tracing {
 public:
  explicit tracing(rank_parts& all) : all_(all), survey_(all) {}
  tracing(const tracing&) = delete;
  tracing& operator=(const tracing&) = delete;

  /// Rank 0: throws if the file cannot be written.
  MANTA_DECL void check(const engine_options& options);
  /// The settings of rank 0 are known.
  MANTA_DECL void configure(const engine_options& options);
  MANTA_DECL void begin_run();  ///< A run begins on this rank.
  /// Rank 0, before its driver: compares the clocks of the nodes. Waits.
  MANTA_DECL void begin_driver();
  /// Rank 0, at the end of a run: collects the records and writes the file. Waits.
  MANTA_DECL void end_run(const std::vector<phase_statistics>& phases);
  /// Called when the rank looks around: notes quantities once in a while.
  MANTA_DECL void look();
  /// Rank 0 asks for the records of this rank, or for its clock.
  MANTA_DECL void on_ask(const ask_message& m);

 private:
  /// How far the clock of a node is ahead of rank 0's, at a time of rank 0's.
  struct offset {
    std::int64_t at = 0, ns = 0;
    std::int64_t error = 0;  ///< half of the round trip
  };
  struct node_clock {
    rank_id asked = 0;  ///< the lowest rank of the node
    offset first, last;
  };

  void find_nodes();  ///< The lowest rank of each node, but for rank 0's.
  /// Compares the clocks of all nodes with rank 0's. Waits.
  void compare_clocks(offset node_clock::*when);
  /// One round trip. An error of 0: there was no answer. Waits.
  offset compare_clock(rank_id with);
  wire::buffer own_records();  ///< The records of this rank for rank 0, in nanoseconds of its own clock.
  /// Reads what own_records has written.
  report::trace_of_rank read_records(rank_id rank, wire::source& in);
  void align(report::trace_of_rank& r) const;  ///< From the clock of the rank's node to that of rank 0.
  void to_nanoseconds();                       ///< Converts the records, once.
  /// What rank 0 has itself.
  report::trace_of_rank own_trace();
  report::run_trace collect();  ///< Ends the complete survey.

  rank_parts& all_;
  survey survey_;
  std::string path_, job_;
  std::uint64_t most_bytes_ = 0;
  std::uint32_t most_records_ = 0;   // of a rank, in the file
  base::vector<node_clock> clocks_;  // rank 0: by node, its own has no entry that counts
  unsigned looks_ = 0;
};

}  // namespace manta::exec
