// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which replica gets which request: the queue of a deployment and the load of its replicas. Plain data without
// communication: a router (router.hpp) tells it what happened and does what it answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "manta/serve/options.hpp"
#include "manta/serve/replica_table.hpp"
#include "manta/serve/status.hpp"
#include "manta/this_task.hpp"

namespace manta::serve {

/// A request in the queue; the router's own has more members.
struct queued_request {
  using clock = std::chrono::steady_clock;
  call_options options;
  clock::time_point arrived = clock::now();
  int tries = 0;
  bool alone = false;    ///< whether it goes in no batch with others: with them it has failed, or it is many rows
  bool is_part = false;  ///< whether it is part of a request with many rows, which counts as a whole
  int version = 0;       ///< version of the replica that has it
  this_task::stop_token caller = {};  ///< token of the call that waits for the answer: it may have been cancelled
  bool is_queued = false;
  std::list<queued_request*>::iterator place = {};  ///< place in the queue
};

class dispatcher {
 public:
  using clock = queued_request::clock;

  MANTA_DECL explicit dispatcher(const options& o);
  MANTA_DECL ~dispatcher();

  /// Throws overloaded if the queue is full, unavailable while the deployment drains.
  MANTA_DECL void admit(queued_request& r);
  /// Back to the head of the queue: its replica died, or it is to be tried alone.
  MANTA_DECL void again(queued_request& r);
  /// Leaves the queue, if it is in it.
  MANTA_DECL void forget(queued_request& r);
  /// The request that leaves next, or null.
  [[nodiscard]] MANTA_DECL queued_request* front() const;

  // A request is unwanted when its time is over, and when nobody waits for it any more. It leaves the queue when its
  // turn comes, when its own call says so, and when somebody looks for such ones. So no request costs a look at others.

  /// Takes this one out of the queue if it is unwanted.
  MANTA_DECL void drop_if_unwanted(queued_request& r);
  /// Takes all of them out of the queue; looks at each request.
  MANTA_DECL void drop_all_unwanted();
  /// If the queue is full, drops all unwanted requests. Scans at most once for as many calls and admissions as the
  /// queue has places, so the cost of a request stays constant.
  MANTA_DECL void make_room();
  /// The requests that have left the queue as unwanted since the last call.
  [[nodiscard]] std::vector<queued_request*> take_unwanted() { return std::exchange(unwanted_, {}); }

  /// Requests for one replica.
  struct batch {
    std::size_t replica = 0;
    std::vector<queued_request*> requests;
  };
  /// The next batch, for the ready replica with the least work; empty: there is no request, or each replica has enough.
  MANTA_DECL batch next();
  /// Adds requests from the queue until the batch, which `next` gave, is full. True: it is.
  MANTA_DECL bool fill(batch& b);
  /// The replica has answered, or died.
  MANTA_DECL void finished(const batch& b);
  /// A request has its answer.
  MANTA_DECL void answered(const queued_request& r, bool good);
  /// A request with many rows begins, whose parts are admitted one after the other. Throws as admit does.
  MANTA_DECL void begin_whole();
  /// All its parts are answered, or one has failed.
  MANTA_DECL void end_whole(const queued_request& whole, bool good);
  /// Nobody wants its answer any more.
  void drop_whole() {
    --wholes_;
    ++cancelled_;
  }

  [[nodiscard]] replica_table& replicas() { return replicas_; }
  [[nodiscard]] const replica_table& replicas() const { return replicas_; }

  /// The number of replicas that there should be now: more while requests have waited for a tenth of a second, one
  /// fewer after .down_after in which one less would have done.
  MANTA_DECL int wanted();

  /// The number of batches that a replica may have at once.
  [[nodiscard]] int most_ongoing() const {
    if (options_.max_ongoing > 0) return options_.max_ongoing;
    return options_.timeout.count() > 0 ? 1 : 2;
  }

  [[nodiscard]] bool has_queue() const { return queued_ > 0; }
  [[nodiscard]] bool is_full() const { return queued_ >= static_cast<std::uint64_t>(options_.max_queue); }
  [[nodiscard]] std::uint64_t outstanding() const { return queued_ + running_ + wholes_; }
  void drain() { is_draining_ = true; }
  [[nodiscard]] int version() const { return version_; }
  /// A new version has taken over.
  void set_version(int version) { version_ = version; }
  /// Whether the present version takes batches.
  [[nodiscard]] bool is_batched() const { return is_batched_; }
  void set_batched(bool is_batched) { is_batched_ = is_batched; }
  /// The counts of a canary that has ended.
  MANTA_DECL void add_counts(const status& s);
  [[nodiscard]] bool is_draining() const { return is_draining_; }
  void count_retry() { ++retried_; }
  /// A request that a replica had.
  void count_cancelled() { ++cancelled_; }
  void count_overdue() { ++overdue_; }
  [[nodiscard]] const options& told() const { return options_; }
  [[nodiscard]] MANTA_DECL status report() const;
  /// All requests of the queue, which is empty then: nobody can answer them.
  MANTA_DECL std::vector<queued_request*> give_up();

 private:
  /// What a version has done.
  struct version_figures {
    std::uint64_t served = 0, failed = 0;
    std::vector<float> latencies = {};  ///< ms, a ring
  };
  bool has_room(const replica_table::state& r) const;
  bool is_unwanted(const queued_request& r) const;
  void count_unwanted(queued_request& r);
  void leave_queue(queued_request& r);
  void enter_queue(queued_request& r, bool at_head);
  void add_versions_to(status& s) const;

  options options_;
  std::map<int, std::list<queued_request*>, std::greater<>> queue_;  ///< requests by priority; none is empty
  std::vector<queued_request*> unwanted_;
  std::uint64_t since_look_ = 0;  ///< admissions and tries to make room since the last look at all requests
  std::uint64_t queued_ = 0, running_ = 0;
  replica_table replicas_;
  bool is_draining_ = false;
  clock::time_point queue_since_ = {}, busy_since_ = clock::now();
  int version_ = 1;
  bool is_batched_ = false;
  std::uint64_t wholes_ = 0, parts_queued_ = 0, parts_running_ = 0;
  std::uint64_t retried_ = 0, refused_ = 0, expired_ = 0, cancelled_ = 0, overdue_ = 0, batches_ = 0;
  version_figures all_;  ///< figures of all versions, canaries that have ended included
  std::map<int, version_figures> of_versions_;
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/dispatcher.ipp"
#endif
