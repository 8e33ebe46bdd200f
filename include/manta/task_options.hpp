// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task asks for.
#pragma once

#include <chrono>
#include <string>

#include "manta/isolate.hpp"
#include "manta/places.hpp"
#include "manta/reservation.hpp"

namespace manta {

/// What a task asks for. All members have defaults; give those that matter by name, in this order.
struct task_options {
  std::string name = {};      ///< name for this_task::name, errors and traces
  int cpus = 1;               ///< cores its rank must have; OpenMP and Eigen use as many threads
  double gpus = 0;            ///< devices, held while it runs: whole ones, or a part of one
  quantities resources = {};  ///< named amounts, held while it runs (in a gang, by each member)
  int ranks = 0;              ///< a gang of that many ranks: the function takes manta::team first
  int nodes = 0;              ///< number of nodes of the gang, with equally many ranks on each
  int rank = -1;              ///< run on this rank only
  int node = -1;              ///< run on ranks of this node only
  places except = {};         ///< run on none of these: {{0, 3}} are two ranks, {.nodes = {1}} is a node
  /// Run where this value lies, once it exists; else on the node of that rank, else anywhere. A gang has as many
  /// members on that node as possible.
  any_future near = {};
  /// Run where the fewest tasks are, in turn. A gang runs on as many nodes as possible.
  bool spread = false;
  int priority = 0;  ///< among tasks that wait at rank 0, the highest starts first
  int retries = 0;   ///< times that it may run again, after an exception or its rank's end
  /// Decides whether a failure is worth another attempt. It is called on the rank that submitted the task, outside of
  /// tasks, and must not call manta. Null: every failure is worth one.
  bool (*retry_if)(const task_failed&) = nullptr;
  /// Time from the call until the task must have started; if it has not, it fails with timeout and never runs.
  std::chrono::nanoseconds deadline = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds retry_after{0};  ///< pause before the first retry; it doubles with each further one
  /// Time that the task is likely to take: it does not start if the allocation ends earlier. 0: the mean
  /// of its function.
  std::chrono::nanoseconds duration{0};
  /// Run in a bundle of this reservation and hold the bundle until the end. A gang runs each member in a bundle, on
  /// ranks of their own.
  reservation in = {};
  int bundle = -1;  ///< number of the bundle in the reservation; -1: any that fits
  /// Run in a child process of the rank. A crash there becomes a task_failed here, and a task that hangs can be ended.
  isolate_option isolate = {};
  bool journaled = false;  ///< keep the result in the journal, if any, however short the task was
};

namespace detail {

/// Makes the request of a task from its options; null if they ask for nothing. Throws if no rank can ever meet them.
MANTA_DECL graph::request_ptr make_request(exec::engine& e, const task_options& o, bool gang);
/// The options of a call of an actor. Throws if they have more than .deadline and .retries.
MANTA_DECL exec::call_terms make_call_terms(const task_options& o);

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/task_options.ipp"
#endif
