// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank tells rank 0 of itself, as bytes, and how rank 0 makes the statistics
// of the run of the reports of all ranks. Functions go by their ids, which are the
// same on all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/account/actor_times.hpp"
#include "manta/exec/account/task_counts.hpp"
#include "manta/exec/account/time_account.hpp"
#include "manta/report/statistics.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::exec {

/// What a rank says of itself beside its accounts.
struct rank_facts {
  int node = 0;  ///< its number, by rank 0's count
  bool is_spare = false;
  std::string host = {};
  int cores = 0;             ///< that it may use
  int threads = 0;           ///< that compute in it at the same time, at most; 0: not known
  std::uint64_t budget = 0;  ///< bytes of values that it may keep in memory
  std::uint64_t memory_bytes = 0, spilled_bytes = 0, sent_bytes = 0, transfers = 0;
};

/// What a rank has counted.
struct rank_accounts {
  const exec::time_account& time_account;
  const task_counts& counts;
  const base::vector<actor_times::entry>& actors;
};

/// How much a report holds.
enum class report_detail : std::uint32_t {
  brief,  ///< counts and sums: enough for a line
  full    ///< bins, durations and the longest tasks besides
};

/// Appends the report of a rank at this time, in ticks.
MANTA_DECL void write_report(wire::buffer& out, const rank_facts& facts, const rank_accounts& accounts,
                             std::uint64_t now, report_detail detail);

/// Makes the statistics of a run of the reports of its ranks.
class report_reader {
 public:
  /// The statistics are those of a run of `ranks` ranks that has lasted `seconds`.
  MANTA_DECL report_reader(std::uint32_t ranks, double seconds);
  /// Adds the report of a rank. Ranks without a report stay unknown.
  MANTA_DECL void add(rank_id rank, wire::source& in);
  /// What is known now, sorted as `statistics` says. The reader is used up.
  MANTA_DECL statistics finish();

 private:
  struct bins_of_rank {
    double width = 0;  ///< seconds
    std::vector<rank_statistics::bin> bins;
  };

  function_statistics& function(std::uint32_t id);           ///< no_index: those without a row of their own.
  void read_facts(rank_statistics& rank, wire::source& in);  ///< Reads what write_report has written, part by part.
  void read_counts(wire::source& in);                        ///< Reads the ends of tasks, and the edges.
  /// Adds edges, or who has submitted what.
  void read_edges(wire::source& in, std::vector<edge_statistics>& all);
  /// Reads the times of tasks.
  void read_times(rank_statistics& own, report_detail detail, wire::source& in);
  void read_bins(rank_id rank, wire::source& in);  ///< Reads the bins, which stay of the rank's width.
  void align_bins();                               ///< Gives the bins of all ranks one width.
  void sort_functions();                           ///< Sorts them by time, and turns ids into positions.

  statistics all_;
  std::vector<std::uint32_t> ids_;   // of the functions, as they stand in all_
  base::vector<bins_of_rank> bins_;  // by rank
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/rank_report.ipp"
#endif
