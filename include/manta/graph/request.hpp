// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a task asks for, and what it was given.
#pragma once

#include "manta/base/shared.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

/// Why a task was placed where it is.
enum class placement_reason : std::uint8_t {
  none,
  rank,
  node,
  near,
  data,
  spread,
  bundle,
  least_work,
  room,
  gang,
  gang_near,
  gang_spread,
  gang_in_bundles,
  ahead
};

/// What the scheduler decided for one request.
struct grant {
  std::uint64_t devices = 0;     ///< one bit for each
  std::uint64_t near_bytes = 0;  ///< of its inputs on that rank, if they are the reason
  std::int32_t bundle = -1;      ///< of its reservation
  std::int32_t rank = -1;        ///< -1: not placed
  std::int32_t member = -1;      ///< the rank that made the task, if a member of a gang was there when it came
  placement_reason reason = placement_reason::none;
};

/// For reports, in a node's `missing`: the rank, and why it was that one; never 0.
inline std::uint32_t where_it_ran(std::uint32_t rank, placement_reason why) {
  return ((rank + 1) & 0xffffff) | static_cast<std::uint32_t>(why) << 24;
}
inline grant grant_of(std::uint32_t where) {
  grant g;
  g.rank = static_cast<std::int32_t>((where & 0xffffff) - 1);
  g.reason = static_cast<placement_reason>(where >> 24);
  return g;
}

/// Which failures are tried again, and when.
struct retry_rule {
  bool (*only_if)(const task_failed&) = nullptr;  ///< null: all
  std::int64_t after = 0;  ///< nanoseconds before the first retry; twice as many before each further one
};

/// What one task asks for beyond "run anywhere". A task has one of its own, because what it was given is noted in it.
struct request : base::counted {
  static constexpr int nowhere = -1;    ///< `near`: not asked for
  static constexpr int not_known = -2;  ///< `near`: asked for, the value is not there yet
  static constexpr std::int64_t never = INT64_MAX;

  std::string name;
  int cpus = 1;
  std::int64_t gpu_units = 0;
  quantities resources;
  int ranks = 0;  ///< of a gang, 0 for a task on one rank
  int nodes = 0;  ///< over which its ranks are spread evenly, 0 for any
  int rank = -1;
  int node = -1;
  mutable int near = nowhere;  ///< the rank where the value lies, known when the task is ready
  bool spread = false;
  int priority = 0;
  int retries = 0;
  std::uint64_t reservation = 0;
  int bundle = -1;                ///< of the reservation; -1: any
  std::int64_t deadline = never;  ///< nanoseconds from submission within which it must start
  std::int64_t duration = 0;      ///< nanoseconds that it is likely to take; 0: not said
  // what only the rank that made it looks at, and what is not sent:
  std::int64_t due = never;  ///< the end of the deadline by that rank's clock
  retry_rule retry;
  bool actor = false;            ///< holds its resources until the actor ends
  bool detached = false;
  bool overlap_const = false;
  bool at_least_once = false;
  bool isolate = false;       ///< its code runs in a child process
  bool needs_rank_0 = false;  ///< which runs no tasks unless there is such a one
  bool journaled = false;     ///< its result is kept however little time it took
  mutable bool for_member = false;  ///< a part of an actor on several ranks may wait for it, and the others for that
  int concurrency = 1;
  int max_pending = 0;  ///< 0: any number
  int restarts = 0;
  int checkpoint_every = 0;    ///< calls; 0: never
  mutable int cost = nowhere;  ///< the rank that died last when it ran there: it does not come to rank 0 then
  mutable std::string
      checkpoint;  ///< of an actor whose rank has died: what it is made from, instead of by its constructor
  mutable grant granted;

  bool holds() const { return gpu_units > 0 || !resources.empty(); }
  /// May run on any rank: only its name, its priority, how long it takes or when it is to start or run again differ
  /// from the default.
  bool unconditional() const {
    return cpus <= 1 && !holds() && rank < 0 && node < 0 && near == nowhere && !spread && reservation == 0 && !actor &&
           ranks == 0 && cost < 0;
  }
  /// May run at any time too: its own rank may start it without a decision of rank 0.
  bool anywhere() const { return priority == 0 && unconditional(); }
  /// The program ends with rank 0.
  bool may_come_to(int on_rank) const { return cost < 0 || on_rank != 0; }
  bool possible(int on_rank, const capacity& c) const { return c.executes && fits_on(on_rank, c); }
  /// Would it be possible if that rank ran tasks?
  bool fits_on(int on_rank, const capacity& c) const {
    return cpus <= c.cpus && (rank < 0 || rank == on_rank) && (node < 0 || node == c.node) && may_come_to(on_rank) &&
           c.gpus.can_fit(gpu_units) && fits(resources, c.resources);
  }
  /// Inputs at the end of the list that the function does not see: the value that it wants to be near, its reservation.
  std::uint8_t hidden_inputs() const {
    return static_cast<std::uint8_t>((near != nowhere ? 1 : 0) + (reservation != 0 ? 1 : 0));
  }
  /// Its record stays at home until it ends: to run it again, to look at the clock, or because it holds its
  /// reservation.
  bool kept() const { return retries > 0 || deadline != never || reservation != 0; }

  void write(wire::buffer& out) const {
    wire::put(out, name);
    for (const int number : {cpus, ranks, nodes, rank, node, near, priority, retries, bundle, concurrency, max_pending,
                             restarts, checkpoint_every, cost})
      wire::put(out, number);
    for (const bool flag : {spread, actor, detached, overlap_const, at_least_once, isolate, needs_rank_0, journaled,
                            for_member})
      wire::put(out, flag);
    wire::put(out, gpu_units);
    wire::put(out, reservation);
    wire::put(out, deadline);
    wire::put(out, duration);
    wire::put(out, granted);
    resources.write(out);
  }
  void read(wire::source& in) {
    name = in.get<std::string>();
    for (int* number : {&cpus, &ranks, &nodes, &rank, &node, &near, &priority, &retries, &bundle, &concurrency,
                        &max_pending, &restarts, &checkpoint_every, &cost})
      in.get(*number);
    for (bool* flag : {&spread, &actor, &detached, &overlap_const, &at_least_once, &isolate, &needs_rank_0, &journaled,
                       &for_member})
      in.get(*flag);
    in.get(gpu_units);
    in.get(reservation);
    in.get(deadline);
    in.get(duration);
    in.get(granted);
    resources.read(in);
  }
};
using request_ptr = base::shared<const request>;

}  // namespace manta::graph
