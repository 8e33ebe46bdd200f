// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The request of a task, and what the scheduler has granted.
#pragma once

#include "manta/base/shared.hpp"
#include "manta/base/text.hpp"
#include "manta/graph/places.hpp"
#include "manta/graph/resources.hpp"

namespace manta::graph {

/// The reason for a task's rank.
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
  std::uint64_t devices = 0;     ///< one bit for each device
  std::uint64_t near_bytes = 0;  ///< bytes of its inputs on that rank, if they are the reason
  std::int32_t bundle = -1;      ///< number of the bundle in its reservation
  std::int32_t rank = -1;        ///< -1: not placed
  std::int32_t member = -1;      ///< the rank that made the task, if this rank was in a gang then
  placement_reason reason = placement_reason::none;
};

/// The rank of a task that has ended, and the reason for it, as a number for node::missing; never 0.
inline std::uint32_t where_it_ran(std::uint32_t rank, placement_reason why) {
  return ((rank + 1) & 0xffffff) | static_cast<std::uint32_t>(why) << 24;
}
inline grant grant_of(std::uint32_t where) {
  grant g;
  g.rank = static_cast<std::int32_t>((where & 0xffffff) - 1);
  g.reason = static_cast<placement_reason>(where >> 24);
  return g;
}

/// Which failures of a task are tried again, and when.
struct retry_rule {
  bool (*only_if)(const task_failed&) = nullptr;  ///< null: all failures
  std::int64_t after = 0;  ///< nanoseconds before the first retry; twice as many before each further one
};

/// The conditions of an actor, beyond those of the task that constructs it.
struct actor_rules {
  bool detached = false;
  bool overlap_const = false;
  bool at_least_once = false;
  int concurrency = 1;
  int max_pending = 0;       ///< 0: no limit
  int checkpoint_every = 0;  ///< number of calls; 0: never
};

/// The last rank that died while it ran a task, which then never goes to rank 0.
struct fatal_rank {
  int rank = -1;  ///< -1: none
  /// It was killed from outside, and no other rank has died of the task: if no rank is left, rank 0 runs the task.
  bool was_killed = false;
};

/// Where a task may run, and in which order. Tasks that agree in this and in their needs wait in one queue.
struct place_terms {
  static constexpr int nowhere = -1;    ///< `near`: not asked for
  static constexpr int not_known = -2;  ///< `near`: asked for, but the value does not exist yet

  int ranks = 0;  ///< number of ranks of a gang; 0: a task on one rank
  int nodes = 0;  ///< number of nodes with equally many of these ranks; 0: any
  int rank = -1;
  int node = -1;
  exceptions except = {};
  int near = nowhere;  ///< the rank where the value lies, known when the task is ready
  bool spread = false;
  int priority = 0;
  std::uint64_t reservation = 0;
  int bundle = -1;     ///< number of the bundle in the reservation; -1: any
  bool actor = false;  ///< holds its resources until the actor ends
  /// A part of an actor on several ranks may wait for this task, and the other parts for that part.
  bool for_member = false;

  template <class Self, class Visit>
  static void each_field(Self& self, Visit&& visit) {
    auto& [its_ranks, its_nodes, its_rank, its_node, its_except, its_near, its_spread, its_priority, its_reservation,
           its_bundle, is_actor, is_for_member] = self;
    visit(its_ranks, its_nodes, its_rank, its_node, its_except, its_near, its_spread, its_priority, its_reservation,
          its_bundle, is_actor, is_for_member);
  }
  bool operator==(const place_terms&) const = default;
};

/// How a task runs, and how often.
struct run_terms {
  static constexpr std::int64_t never = INT64_MAX;

  int retries = 0;
  int restarts = 0;
  std::int64_t deadline = never;  ///< nanoseconds from submission within which it must start
  std::int64_t duration = 0;      ///< nanoseconds that it is likely to take; 0: not given
  bool isolate = false;           ///< its code runs in a child process
  bool needs_rank_0 = false;      ///< only rank 0 can run it, or a gang needs it; before, rank 0 runs no tasks
  bool journaled = false;         ///< its result is kept in the journal, however short the task was
  fatal_rank cost = {};
  // The next two are used only by the rank that made the task, and are not sent.
  std::int64_t due = never;  ///< the end of the deadline by the clock of this rank
  retry_rule retry = {};
  /// The checkpoint of an actor whose rank has died: the restart loads it instead of calling the constructor. It is
  /// sent apart from the others (task_records.hpp).
  std::string checkpoint = {};

  /// The fields that are sent.
  template <class Self, class Visit>
  static void each_field(Self& self, Visit&& visit) {
    [[maybe_unused]] auto& [its_retries, its_restarts, its_deadline, its_duration, is_isolated, does_need_rank_0,
                            is_journaled, its_cost, its_due, its_retry, its_checkpoint] = self;
    visit(its_retries, its_restarts, its_deadline, its_duration, is_isolated, does_need_rank_0, is_journaled, its_cost);
  }
};

/// The conditions of one task, beyond "run anywhere". Each task has a request of its own, which also holds its grant.
struct request : base::counted, needs, place_terms, run_terms {
  std::string name;
  actor_rules rules;
  grant granted;

  bool holds() const { return gpu_units > 0 || !resources.empty(); }
  /// Whether the task may run on any rank. Its name, priority, duration, deadline and retries may differ
  /// from the default.
  bool unconditional() const {
    return cpus <= 1 && !holds() && rank < 0 && node < 0 && near == nowhere && !spread && reservation == 0 && !actor &&
           ranks == 0 && cost.rank < 0 && except.empty();
  }
  /// Whether the task may also run at any time: its own rank may start it without a decision of rank 0.
  bool anywhere() const { return priority == 0 && unconditional(); }
  /// False for rank 0 if the task has ended a rank: the program ends with rank 0.
  bool may_come_to(int on_rank) const { return cost.rank < 0 || on_rank != 0; }
  /// Whether the task may run on this rank of this node, whatever it needs there.
  bool allows(int on_rank, int on_node) const {
    return (rank < 0 || rank == on_rank) && (node < 0 || node == on_node) && may_come_to(on_rank) &&
           !except.has(on_rank, on_node);
  }
  bool possible(int on_rank, const capacity& c) const { return c.executes && fits_on(on_rank, c); }
  /// Whether the rank could run the task if it ran tasks at all.
  bool fits_on(int on_rank, const capacity& c) const {
    return cpus <= c.cpus && allows(on_rank, c.node) && c.gpus.can_fit(gpu_units) && fits(resources, c.resources);
  }
  /// Number of inputs at the end of the list that the function does not see: the value that the task wants to be near,
  /// and its reservation.
  std::uint8_t hidden_inputs() const {
    return static_cast<std::uint8_t>((near != nowhere ? 1 : 0) + (reservation != 0 ? 1 : 0));
  }
  /// Whether the home keeps the task's record until the task has ended: to run it again, for its deadline, or because
  /// the record holds its reservation.
  bool kept() const { return retries > 0 || deadline != never || reservation != 0; }

  /// Whether the scheduler decides alike for tasks with this and with the other request.
  bool waits_as(const request& other) const {
    return part<needs>(*this) == part<needs>(other) && part<place_terms>(*this) == part<place_terms>(other) &&
           (cost.rank < 0) == (other.cost.rank < 0) && granted.member == other.granted.member;
  }
  /// Whether the same ranks can take a member of a gang with this and with the other request.
  bool needs_as(const request& other) const {
    return part<needs>(*this) == part<needs>(other) && rank == other.rank && node == other.node &&
           except == other.except && for_member == other.for_member && needs_rank_0 == other.needs_rank_0 &&
           (cost.rank < 0) == (other.cost.rank < 0) && (granted.member < 0) == (other.granted.member < 0);
  }
  void write(wire::buffer& out) const {
    each_sent(*this, [&out](const auto&... field) { (put_field(out, field), ...); });
  }
  void read(wire::source& in) {
    each_sent(*this, [&in](auto&... field) { (get_field(in, field), ...); });
  }

 private:
  /// Calls `visit` with the fields of each part that are sent.
  template <class Self, class Visit>
  static void each_sent(Self& self, Visit&& visit) {
    needs::each_field(part<needs>(self), visit);
    place_terms::each_field(part<place_terms>(self), visit);
    run_terms::each_field(part<run_terms>(self), visit);
    visit(self.name, self.rules, self.granted);
  }
  template <class Part>
  static Part& part(request& of) {
    return of;
  }
  template <class Part>
  static const Part& part(const request& of) {
    return of;
  }
  template <class Field>
  static void put_field(wire::buffer& out, const Field& field) {
    if constexpr (requires { field.write(out); }) {
      field.write(out);
    } else {
      wire::put(out, field);
    }
  }
  template <class Field>
  static void get_field(wire::source& in, Field& field) {
    if constexpr (requires { field.read(in); }) {
      field.read(in);
    } else {
      in.get(field);
    }
  }
};
using request_ptr = base::shared<request>;

/// What a request asks of its rank's place, to stand behind its needs: ", rank = 3", ", except rank 0".
inline std::string describe_place(const place_terms& of) {
  std::string text;
  if (of.rank >= 0) text += base::text(", rank = {}", of.rank);
  if (of.node >= 0) text += base::text(", node = {}", of.node);
  if (!of.except.empty()) text += ", except " + describe(of.except.all());
  return text;
}

}  // namespace manta::graph
