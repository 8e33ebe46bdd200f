// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The way of requests through a router: into the queue, to a replica in a batch, and back with the answer. A call waits
// here until its request is answered. One request of each batch, the carrier, sends the batch to the replica and gives
// the answers to the others. dispatcher.hpp decides; this part waits and communicates.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "manta/serve/failed_batches.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

class request_flow {
 public:
  request_flow(dispatcher& d, replica_set& r, changes& c) : dispatcher_(d), replicas_(r), changes_(c), failed_(d, r) {}
  request_flow(const request_flow&) = delete;

  /// Returns when the request has an answer, or a failure. Throws overloaded and unavailable, and what a wait throws.
  MANTA_DECL void run(waiting_entry& e);
  /// Gives requests to replicas that have room. The first request of each batch carries it.
  MANTA_DECL void dispatch();
  /// Starts and ends replicas until there are as many as there should be.
  MANTA_DECL void adapt();
  MANTA_DECL void collect_started();
  /// Ends requests that have left the queue because their time is over, or their calls have been cancelled. To be
  /// called before this call waits again.
  MANTA_DECL void end_unwanted();

 private:
  void wait_for_turn(waiting_entry& e);
  void wait_for_bell(waiting_entry& e, const future<void>& bell);
  void wait_for_bell_or_start(waiting_entry& e, const future<void>& bell);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> time_left(const waiting_entry& e) const;
  void carry(waiting_entry& e);
  void run_batch(waiting_entry& e, const dispatcher::batch& b, const actor<replica>& its);
  void abandon(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms);
  void end_overdue(const dispatcher::batch& b, const batch_terms& terms);
  void refuse_without_replicas();
  void leave(waiting_entry& e);
  void fill_in_time(waiting_entry& e);
  void give_up_without_replicas(const std::string& why);

  dispatcher& dispatcher_;
  replica_set& replicas_;
  changes& changes_;
  failed_batches failed_;
  call_turns turns_;
  std::vector<waiting_entry*> collecting_;  ///< carriers whose batches are not on their way yet, and may grow
  bool watched_ = false;                    ///< a waiting request looks at replicas that start
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/request_flow.ipp"
#endif
