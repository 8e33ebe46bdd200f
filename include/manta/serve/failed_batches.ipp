// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/serve/failed_batches.hpp"
#include "manta/serve/overloaded.hpp"

namespace manta::serve::detail {

MANTA_DECL void failed_batches::settle(const batch& b) {
  dispatcher_.finished(b);
  try {
    throw;
  } catch (const actor_died& d) {
    lost(b, death(d), 3);
  } catch (const rank_lost& d) {  // its process has ended while it worked on these requests, perhaps because of them
    lost(b, death(d), 1);
  } catch (const object_lost& d) {  // of a stream
    lost(b, death(d), 1);
  } catch (const task_failed& t) {
    const auto why = std::make_exception_ptr(request_failed(name(), t.details().type, t.details().what));
    if (t.details().type == "manta::fatal") {  // the method ended its replica
      lost(b, why, 3);
    } else if (t.details().type == "crash") {  // its process has ended, perhaps because of these requests
      lost(b, death(t), 1);
    } else {
      refused(b, why, is_overload(t));
    }
  } catch (const std::exception& x) {  // of a type that travels as itself
    refused(b, std::current_exception(), is_overload(x));
  }
}

MANTA_DECL void failed_batches::send_elsewhere(const batch& b) {
  dispatcher_.finished(b);
  replicas_.end(b.replica);
  for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) dispatcher_.again(**r);
}

MANTA_DECL void failed_batches::put_back(const batch& b, const queued_request& but) {
  dispatcher_.finished(b);
  for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
    if (*r != &but) dispatcher_.again(**r);
  }
}

MANTA_DECL void failed_batches::abandon(const batch& b) {
  for (queued_request* r : b.requests) {
    static_cast<waiting_entry*>(r)->failure = cancellation();
    if (!r->is_part) dispatcher_.count_cancelled();
  }
}

MANTA_DECL void failed_batches::end_overdue(const batch& b, const std::string& why) {
  for (queued_request* r : b.requests) {
    fail(*r, std::make_exception_ptr(timed_out(base::text("manta: serve: the deployment '{}': {}", name(), why))));
    if (!r->is_part) dispatcher_.count_overdue();
  }
}

MANTA_DECL void failed_batches::end_behind_overdue(const batch& b) {
  dispatcher_.finished(b);
  lost(b, death(error("a call on its rank does not return")), 3);
}

MANTA_DECL unavailable failed_batches::no_replicas(const std::string& why) const {
  return unavailable(
      base::text("manta: serve: the deployment '{}' has no replicas, and no new one can be made: {}", name(), why));
}

MANTA_DECL void failed_batches::give_up(const std::string& why) {
  for (queued_request* r : dispatcher_.give_up()) {
    fail(*r, std::make_exception_ptr(no_replicas(why)));
    static_cast<waiting_entry*>(r)->bell.ring();
  }
}

MANTA_DECL void failed_batches::end_unwanted(queued_request& r) {
  const auto late = [&] {
    return std::make_exception_ptr(
        expired("manta: serve: a request waited longer in the queue of '" + name() + "' than its deadline allows"));
  };
  static_cast<waiting_entry&>(r).failure = r.caller.stop_requested() ? cancellation() : late();
}

inline std::exception_ptr failed_batches::death(const error& e) const {
  return std::make_exception_ptr(
      replica_died("manta: serve: a replica of the deployment '" + name() + "' died with a request: " + e.what()));
}

inline std::exception_ptr failed_batches::cancellation() const {
  return std::make_exception_ptr(cancelled("manta: serve: a request to '" + name() + "' was cancelled"));
}

/// The replica has died. Requests of an idempotent deployment are tried again, at most `most`
/// times; others fail with `why`.
inline void failed_batches::lost(const batch& b, const std::exception_ptr& why, int most) {
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
inline void failed_batches::refused(const batch& b, const std::exception_ptr& why, bool is_busy) {
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

inline void failed_batches::fail(queued_request& r, const std::exception_ptr& why) {
  static_cast<waiting_entry&>(r).failure = why;
  dispatcher_.answered(r, false);
}

}  // namespace manta::serve::detail
