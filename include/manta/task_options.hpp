// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task asks for.
#pragma once

#include <chrono>
#include <string>

#include "manta/isolate.hpp"
#include "manta/reservation.hpp"

namespace manta {

/// What a task asks for. All members have defaults; give those that matter by name, in this order.
struct task_options {
  std::string name = {};                        ///< for this_task::name, errors and traces
  int cpus = 1;                                 ///< only on ranks with as many cores; OpenMP and Eigen use so many threads
  double gpus = 0;                              ///< devices, held while it runs: a part of one or whole ones
  graph::quantities resources = {};             ///< named amounts, held while it runs (both by each member of a gang)
  int ranks = 0;                                ///< a gang of that many ranks: the function takes manta::team first
  int nodes = 0;                                ///< its ranks on exactly so many nodes, equally many on each
  int rank = -1;                                ///< run on this rank only
  int node = -1;                                ///< run on ranks of this node only
  any_future near = {};                         ///< run where this value lies, when it exists; else on its node, else anywhere
                                                ///< (a gang: as many members on its node as can be)
  bool spread = false;                          ///< run where the fewest tasks are, in turn (a gang: on as many nodes as can be)
  int priority = 0;                             ///< of tasks that wait at rank 0 the highest go first
  int retries = 0;                              ///< run again after an exception, or after it has ended its rank, at most so often
  /// Is this failure worth another attempt? Asked where the task was submitted, wherever it ran, outside of tasks: it
  /// must not call manta. Null: every failure is.
  bool (*retry_if)(const task_failed&) = nullptr;
  /// From the call: a task that has not started by then fails with timeout and is not run. Not for one that has started.
  std::chrono::nanoseconds deadline = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds retry_after{0};      ///< before the first retry; twice as long before each further one
  /// How long it is likely to take: if the allocation ends before, it is not started. 0: as the mean of its function.
  std::chrono::nanoseconds duration{0};
  reservation in = {};                          ///< run in a bundle of this reservation (a gang: each member in one, on ranks of
                                                ///< their own), and hold it until the end
  int bundle = -1;                              ///< in this one; -1: in any that fits
  /// Run in a child process of the rank: a crash there is a task_failed here, and one that does not end can be ended.
  isolate_option isolate = {};
  bool journaled = false;  ///< its result is worth keeping in the journal, if there is one, however little time it took
};

namespace detail {

/// Null for a task that asks for nothing. Throws if no rank can ever meet the options.
MANTA_DECL graph::request_ptr make_request(exec::engine& e, const task_options& o, bool gang);

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/task_options.ipp"
#endif
