// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What becomes of the requests of a batch that has no answers: which are tried again, and what the others fail with.
#pragma once

#include <exception>
#include <string>

#include "manta/error.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

class failed_batches {
 public:
  using batch = dispatcher::batch;

  failed_batches(dispatcher& d, replica_set& r) : dispatcher_(d), replicas_(r) {}

  /// To be called while the error of the batch is handled.
  MANTA_DECL void settle(const batch& b);
  /// The replica has died before it got the batch: it has not lost the requests, and others get them.
  MANTA_DECL void send_elsewhere(const batch& b);
  /// The call of `but`, which was to carry the batch, has ended by itself: the others go back to the queue.
  MANTA_DECL void put_back(const batch& b, const queued_request& but);
  /// Nobody wants the answers any more.
  MANTA_DECL void abandon(const batch& b);
  /// The call of the batch has run too long.
  MANTA_DECL void end_overdue(const batch& b, const std::string& why);
  /// Another call on the rank has run too long, and its replicas are given up.
  MANTA_DECL void end_behind_overdue(const batch& b);
  /// Fails all that waits: nobody is left to answer it, because of that.
  MANTA_DECL void give_up(const std::string& why);
  [[nodiscard]] MANTA_DECL unavailable no_replicas(const std::string& why) const;
  /// Fails a request that has left the queue because its time is over, or its call has been cancelled.
  MANTA_DECL void end_unwanted(queued_request& r);

 private:
  [[nodiscard]] const std::string& name() const { return dispatcher_.told().name; }
  [[nodiscard]] std::exception_ptr death(const error& e) const;
  [[nodiscard]] std::exception_ptr cancellation() const;
  void lost(const batch& b, const std::exception_ptr& why, int most);
  void refused(const batch& b, const std::exception_ptr& why, bool is_busy);
  void fail(queued_request& r, const std::exception_ptr& why);

  dispatcher& dispatcher_;
  replica_set& replicas_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/failed_batches.ipp"
#endif
