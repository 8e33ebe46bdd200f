// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What becomes of the requests of a batch that has no answers: which are tried again, and what the others fail with.
#pragma once

#include <exception>
#include <string>

#include "manta/error.hpp"
#include "manta/serve/overloaded.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_request.hpp"

namespace manta::serve::detail {

template <class Signature>
class failed_batches {
 public:
  using entry = waiting_request<Signature>;
  using batch = dispatcher::batch;

  failed_batches(dispatcher& d, replica_set<Signature>& r) : dispatcher_(d), replicas_(r) {}

  /// To be called while the error of the batch is handled.
  void settle(const batch& b) {
    dispatcher_.finished(b);
    try {
      throw;
    } catch (const actor_died& d) {
      lost(b, death(d), 3);
    } catch (const rank_lost& d) {  // its process has ended while it worked on these requests, perhaps because of them
      lost(b, death(d), 1);
    } catch (const task_failed& t) {
      const auto why = std::make_exception_ptr(
          request_failed("manta: serve: the deployment '" + name() + "' failed: " + t.details().what));
      if (t.details().type == "manta::fatal") {  // the method ended its replica
        lost(b, why, 3);
      } else {
        refused(b, why, is_overload(t));
      }
    } catch (const std::exception& x) {  // of a type that travels as itself
      refused(b, std::current_exception(), is_overload(x));
    }
  }
  /// The replica has died before it got the batch: it has not lost the requests, and others get them.
  void send_elsewhere(const batch& b) {
    dispatcher_.finished(b);
    replicas_.end(b.replica);
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) dispatcher_.again(**r);
  }
  /// The call of `but`, which was to carry the batch, has ended by itself: the others go back to the queue.
  void put_back(const batch& b, const request& but) {
    dispatcher_.finished(b);
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
      if (*r != &but) dispatcher_.again(**r);
    }
  }
  /// Nobody wants the answers any more.
  void abandon(const batch& b) {
    for (request* r : b.requests) {
      static_cast<entry*>(r)->failure = entry::cancellation(name());
      dispatcher_.count_cancelled();
    }
  }
  /// Fails all that waits: nobody is left to answer it, because of that.
  void give_up(const std::string& why) {
    for (request* r : dispatcher_.give_up()) {
      fail(*r, std::make_exception_ptr(unavailable("manta: serve: the deployment '" + name() +
                                                   "' has no replicas, and no new one can be made: " + why)));
      static_cast<entry&>(*r).bell.ring();
    }
  }

 private:
  [[nodiscard]] const std::string& name() const { return dispatcher_.told().name; }
  [[nodiscard]] std::exception_ptr death(const error& e) const {
    return std::make_exception_ptr(
        replica_died("manta: serve: a replica of the deployment '" + name() + "' died with a request: " + e.what()));
  }
  /// The replica is dead. Requests that may be repeated are, as often as that.
  void lost(const batch& b, const std::exception_ptr& why, int most) {
    replicas_.end(b.replica);
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
      if (dispatcher_.told().idempotent && ++(*r)->tries <= most) {
        dispatcher_.count_retry();
        dispatcher_.again(**r);
      } else {
        fail(**r, why);
      }
    }
  }
  /// The method threw. One request of several may be the reason: each is tried alone, where they may be repeated.
  void refused(const batch& b, const std::exception_ptr& why, bool is_busy) {
    const bool each_alone = dispatcher_.told().idempotent && b.requests.size() > 1 && !is_busy;
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
      if (each_alone) {
        (*r)->alone = true;
        dispatcher_.count_retry();
        dispatcher_.again(**r);
      } else {
        fail(**r, why);
      }
    }
  }
  void fail(request& r, const std::exception_ptr& why) {
    static_cast<entry&>(r).failure = why;
    dispatcher_.answered(r, false);
  }

  dispatcher& dispatcher_;
  replica_set<Signature>& replicas_;
};

}  // namespace manta::serve::detail
