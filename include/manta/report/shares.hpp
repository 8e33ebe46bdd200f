// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where the time of a run went: sums over ranks, and the factors of its efficiency.
#pragma once

#include <cstdint>

#include "manta/base/vector.hpp"
#include "manta/report/statistics.hpp"

namespace manta::report {

/// Seconds of this state.
inline double seconds_in(const state_seconds& of, rank_state state) { return of[static_cast<std::size_t>(state)]; }

/// The time of the ranks that run tasks. Spare ranks are left out, and so is rank 0 if it has run only the driver.
struct working_ranks {
  int count = 0;
  state_seconds seconds{};  ///< seconds by state, of all of them
  double all_seconds = 0;   ///< seconds of all states

  /// The share of a state in their time.
  double share(rank_state state) const { return all_seconds > 0 ? seconds_in(seconds, state) / all_seconds : 0; }
  /// The share of their time in which they had a task.
  double load_balance() const { return ratio(busy() + fetching(), all_seconds); }
  /// The share of that time in which they did not wait for inputs.
  double transfer() const { return ratio(busy(), busy() + fetching()); }
  /// The share of what is left in which the program's code ran, and not manta's.
  double overhead() const { return ratio(seconds_in(seconds, rank_state::task), busy()); }
  /// The product of the three: the share of their time in which the program's code ran.
  double efficiency() const { return share(rank_state::task); }

 private:
  static double ratio(double part, double whole) { return whole > 0 ? part / whole : 1; }
  double busy() const { return seconds_in(seconds, rank_state::task) + seconds_in(seconds, rank_state::own); }
  double fetching() const { return seconds_in(seconds, rank_state::fetch); }
};

/// Whether the rank counts as one that runs tasks.
MANTA_DECL bool works(const statistics& s, const rank_statistics& rank);
MANTA_DECL working_ranks working_ranks_of(const statistics& s);

/// The sums over all functions.
struct task_totals {
  std::uint64_t tasks = 0, failed = 0, retried = 0, cancelled = 0;
  double seconds = 0, waited = 0;
};
MANTA_DECL task_totals totals_of(const statistics& s);

/// The sums over all ranks, and the node with most values.
struct value_totals {
  std::uint64_t sent_bytes = 0, transfers = 0, spilled_bytes = 0;
  std::uint64_t memory_bytes = 0;  ///< bytes of values on the node that had most of them, at most
  int node = -1;                   ///< that node
};
MANTA_DECL value_totals values_of(const statistics& s);

/// Bytes of values on each node, at most: the sum of what its ranks had at most.
MANTA_DECL std::vector<std::uint64_t> memory_by_node(const statistics& s);

/// The states of all working ranks together in each bin, in seconds.
MANTA_DECL base::vector<state_seconds> bins_of_working_ranks(const statistics& s);

/// The working ranks in a part of the run, from the `bins` of all of them; the first and the last bin count in part.
MANTA_DECL working_ranks ranks_between(const statistics& s, const base::vector<state_seconds>& bins, double begin,
                                       double end);

/// The host of a node; empty if it is not known.
MANTA_DECL std::string host_of(const statistics& s, int node);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/shares.ipp"
#endif
