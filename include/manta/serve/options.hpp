// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a deployment asks for.
#pragma once

#include <chrono>
#include <string>
#include <type_traits>

#include "manta/actor.hpp"
#include "manta/serve/source.hpp"

namespace manta::serve {

/// A time in milliseconds, from any duration. A program that gives one anywhere in its text prepares for child
/// processes before main: a call on the rank of the queue can only be ended with its process.
class call_timeout {
 public:
  constexpr call_timeout() = default;
  template <class Rep, class Period>
    requires(std::is_convertible_v<std::chrono::duration<Rep, Period>, std::chrono::milliseconds>)
  call_timeout(std::chrono::duration<Rep, Period> longest) : longest_(longest) {
    (void)isolate_option(std::is_same_v<Rep, Rep>);
  }
  /// A limit that the text of the program does not have, for example one from a file: it prepares for nothing.
  static call_timeout from_number(std::chrono::milliseconds longest) {
    call_timeout its;
    its.longest_ = longest;
    return its;
  }
  constexpr operator std::chrono::milliseconds() const { return longest_; }
  [[nodiscard]] constexpr std::int64_t count() const { return longest_.count(); }

 private:
  std::chrono::milliseconds longest_{0};
};

struct options {
  std::string name = {};  ///< unique in the run; also in HTTP routes and in status
  int replicas = 1;       ///< objects that share the work; where min and max are given, at the beginning
  int max_batch = 1;      ///< requests that a replica gets at once, if it is batched
  std::chrono::microseconds wait =
      {};                ///< time that a batch waits to become full; 0: an idle replica takes what there is
  int max_queue = 1000;  ///< requests that may wait for a replica; a further one throws serve::overloaded
  /// Requests may be run more than once: one whose replica died is given to another, three times at most, and those of
  /// a batch that failed are tried one by one, so that a bad one fails alone.
  bool idempotent = false;
  int min = 0, max = 0;              ///< bounds of the number of replicas, which then follows the queue; 0: fixed
  int cpus = 1;                      ///< cores of each replica
  double gpus = 0;                   ///< devices of each replica
  int node = -1;                     ///< replicas live on this node; -1: on any
  graph::quantities resources = {};  ///< named amounts of each replica
  /// The rank that has the queue: that of the HTTP server, where it is another one than 0. The deployment dies with it.
  int router_rank = 0;
  /// Batches (or single requests) that a replica has at once: one runs, the others wait beside it or, where the method
  /// waits for something, run meanwhile. 0: four single requests; of batches two, but the second leaves the queue early
  /// only if it is no smaller than the first, so that batches grow as long as a replica is busy. With `timeout` one, so
  /// that none waits behind a call that hangs.
  int max_ongoing = 0;
  /// Where the number of replicas follows the queue: time after which one is ended if one less would have done.
  std::chrono::milliseconds down_after{10'000};
  /// Replicas are asked for their health this often (`bool healthy() const` of the class), and those that are not well,
  /// have died, or do not answer within `health_timeout` are replaced. 0: only deployment::check asks.
  std::chrono::milliseconds health_every{0};
  /// The longest time that one call of a replica may run, or one value of a generator; 0: any. Its requests then fail
  /// with serve::timed_out. The replica is replaced: its process is ended if it is isolated; else its rank gets nothing
  /// more until the call returns. A replica on rank 0, or that of a router or a server, as in a world of one, is
  /// isolated for that; if it cannot be, because it has a generator or was given a handle, it is refused.
  call_timeout timeout = {};
  /// The time within which a replica has to say that it is well; a busy one says so between two calls. 0:
  /// twenty times `health_every`.
  std::chrono::milliseconds health_timeout{0};
  /// How long an update waits for the calls of a replica that is to go, and deployment::drain for all.
  std::chrono::milliseconds drain_time{20'000};
  /// The part of the replicas that an update replaces at a time, above 0; at least one.
  double wave = 0.2;
  /// Where the number follows the queue, `min` may be 0: no replica is left when nobody has asked for `down_after`, and
  /// the next request waits until one has started.
  bool from_zero = false;
  /// Each replica has a process of its own, beside its rank: one that crashes or never returns costs no rank.
  isolate_option isolate = {};

  MANTA_DECL void serialize(wire::writer& archive);
  MANTA_DECL void serialize(wire::reader& archive);
};

namespace detail {
/// Without a use of the option in the text of the program.
MANTA_DECL void set_isolated(isolate_option& option, bool on);
}  // namespace detail

/// How a new version takes over: see serve::update.
struct update_options {
  double weight = 1;  ///< the part of the requests that it gets, above 0; below 1 it is a canary
};

/// What a single call may ask for: see deployment::with.
struct call_options {
  int priority = 0;  ///< higher ones leave the queue first
  /// A request that waited longer in the queue fails with serve::expired, a manta::timeout; 0: never; below 0, such as
  /// the time to a moment that has passed: at once.
  std::chrono::microseconds deadline = {};
  int version = 0;  ///< that has to answer: the present one or its canary; 0: either

  MANTA_DECL void serialize(wire::writer& archive);
  MANTA_DECL void serialize(wire::reader& archive);
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/options.ipp"
#endif
