// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/serve/request_flow.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

inline waiting_entry& entry_of(queued_request* r) { return *static_cast<waiting_entry*>(r); }

MANTA_DECL void request_flow::run(waiting_entry& e) {
  adapt();
  refuse_without_replicas();
  dispatcher_.make_room();
  end_unwanted();
  dispatcher_.admit(e);
  try {
    dispatch();
    while (!e.has_ended()) e.work ? carry(e) : wait_for_turn(e);
  } catch (...) {
    leave(e);
    throw;
  }
  changes_.notify();
  if (!watched_ && replicas_.are_starting() && dispatcher_.has_queue()) entry_of(dispatcher_.front()).bell.ring();
}

MANTA_DECL void request_flow::dispatch() {
  for (waiting_entry* carrier : collecting_) {
    if (dispatcher_.fill(*carrier->work)) carrier->bell.ring();
  }
  for (;;) {
    dispatcher::batch b = dispatcher_.next();
    if (b.requests.empty()) break;
    waiting_entry& carrier = entry_of(b.requests.front());
    carrier.work = std::make_unique<dispatcher::batch>(std::move(b));
    if (dispatcher_.told().max_batch > 1) collecting_.push_back(&carrier);
    carrier.bell.ring();
  }
  end_unwanted();
}

MANTA_DECL void request_flow::adapt() {
  try {
    replicas_.adapt();
  } catch (const error& e) {
    give_up_without_replicas(e.what());
  }
}

MANTA_DECL void request_flow::collect_started() {
  const std::string problem = replicas_.collect_started();
  if (!problem.empty()) give_up_without_replicas(problem);
}

inline void request_flow::give_up_without_replicas(const std::string& why) {
  if (dispatcher_.replicas().count(true) + dispatcher_.replicas().count(false) == 0) failed_.give_up(why);
}

/// While no replica can be made, nobody waits until it is tried again.
inline void request_flow::refuse_without_replicas() {
  const replica_table& all = dispatcher_.replicas();
  if (all.count(true) + all.count(false) == 0 && replicas_.is_pausing() && !dispatcher_.is_draining())
    throw failed_.no_replicas(replicas_.problem());
}

MANTA_DECL void request_flow::end_unwanted() {
  for (queued_request* r : dispatcher_.take_unwanted()) {
    failed_.end_unwanted(*r);
    entry_of(r).bell.ring();
  }
}

/// Waits until this request is answered or has to carry a batch. One waiting request also watches replicas that start.
inline void request_flow::wait_for_turn(waiting_entry& e) {
  const future<void> bell = e.bell.set_up();
  if (watched_ || !replicas_.are_starting()) return wait_for_bell(e, bell);
  watched_ = true;
  try {
    wait_for_bell_or_start(e, bell);
  } catch (...) {
    watched_ = false;
    throw;
  }
  watched_ = false;
  collect_started();
  dispatch();
}

/// How long a request may still wait in the queue; nothing: as long as it takes. A request whose time is over is no
/// longer there: a replica has it, and it waits for the answer alone.
inline std::optional<std::chrono::nanoseconds> request_flow::time_left(const waiting_entry& e) const {
  const auto left = e.options.deadline - (queued_request::clock::now() - e.arrived);
  if (left.count() <= 0) return std::nullopt;
  return left + std::chrono::milliseconds(1);
}

inline void request_flow::wait_for_bell(waiting_entry& e, const future<void>& bell) {
  const auto left = time_left(e);
  left ? void(bell.wait_for(*left)) : bell.wait();
  e.bell.put_away();
  if (!left) return;
  dispatcher_.drop_if_unwanted(e);
  end_unwanted();
}

inline void request_flow::wait_for_bell_or_start(waiting_entry& e, const future<void>& bell) {
  const auto left = time_left(e);
  watcher events;
  events.add(bell, 0);
  replicas_.add_starts_to(events, 1);
  left ? void(events.next(*left)) : void(events.next());
  e.bell.put_away();
  if (!left) return;
  dispatcher_.drop_if_unwanted(e);
  end_unwanted();
}

/// Whether a call has failed because its rank has ended its process, which it does at the end of its time.
inline bool was_ended_for_its_time(const batch_terms& terms) {
  const auto longest = terms.limit.longest;
  return terms.is_isolated && longest.count() > 0 && call_turns::clock::now() - terms.limit.turn->begin() >= longest;
}

/// Sends the batch to its replica, waits, and gives each request its answer.
inline void request_flow::carry(waiting_entry& e) {
  fill_in_time(e);
  std::erase(collecting_, &e);
  const dispatcher::batch b = std::move(*std::exchange(e.work, nullptr));
  if (const auto* const its = replicas_.find(b.replica)) {
    run_batch(e, b, actor<replica>(*its));
  } else {
    failed_.send_elsewhere(b);
  }
  adapt();
  dispatch();
  changes_.notify();
}

inline void request_flow::run_batch(waiting_entry& e, const dispatcher::batch& b, const actor<replica>& its) {
  const options& o = dispatcher_.told();
  const std::uint64_t number = this_task::id();  // of the carrier: unique
  call_turns::turn turn(turns_, dispatcher_.replicas().rank_of(b.replica));
  const batch_terms terms{
      number, o.idempotent, {o.timeout, &turn}, replicas_.is_isolated(b.replica), replicas_.given_up(b.replica),
      &turns_};
  try {
    const call_end end = e.run_batch(b, its, terms);
    if (end == call_end::unwanted) return abandon(b, its, terms);
    if (end == call_end::overdue) return end_overdue(b, terms);
    dispatcher_.finished(b);
    for (const queued_request* r : b.requests) dispatcher_.answered(*r, true);
  } catch (...) {
    if (was_ended_for_its_time(terms)) return end_overdue(b, terms);
    failed_.settle(b);
  }
  for (queued_request* r : b.requests) {
    if (entry_of(r).has_ended()) entry_of(r).bell.ring();
  }
}

/// The replica has been told, and gets no other batch in the place of this one until it has ended it.
inline void request_flow::abandon(const dispatcher::batch& b, const actor<replica>& its, const batch_terms& terms) {
  failed_.abandon(b);
  for (queued_request* r : b.requests) entry_of(r).bell.ring();
  if (!terms.is_isolated) {
    try {
      call_turns::turn question(turns_, terms.limit.turn->rank());
      const auto told = async<&replica::end_of>(its, terms.number);
      const auto always = [] { return true; };
      call_end end = wait_for_call(told, {terms.limit.longest, &question}, always, terms.given_up);
      question.end();
      if (end == call_end::answered) end = wait_for_call(told.get(), terms.limit, always, terms.given_up);
      if (end == call_end::overdue) replicas_.give_up(b.replica, "a call that nobody wants any more does not end");
    } catch (const error&) {
      replicas_.end(b.replica);  // it has died
    }
  }
  dispatcher_.finished(b);
}

/// The call runs too long, or its replica does not answer any more. Requests that wait for the same rank go to another
/// one, if they may be repeated.
inline void request_flow::end_overdue(const dispatcher::batch& b, const batch_terms& terms) {
  const auto longest = terms.limit.longest.count();
  const std::string why =
      longest > 0 ? base::text("a call has run for {} ms", longest) : "its replica does not answer any more";
  if (terms.limit.turn->has_come()) {
    if (!terms.is_isolated) terms.limit.turn->keep();
    failed_.end_overdue(b, why);
    replicas_.give_up(b.replica, why);
    dispatcher_.finished(b);
  } else {
    failed_.end_behind_overdue(b);
  }
  for (queued_request* r : b.requests) {
    if (entry_of(r).has_ended()) entry_of(r).bell.ring();
  }
}

/// A call that ends by an exception of its own wait.
inline void request_flow::leave(waiting_entry& e) {
  dispatcher_.forget(e);
  std::erase(collecting_, &e);
  if (e.work) {
    failed_.put_back(*std::exchange(e.work, nullptr), e);
    dispatch();
  }
  changes_.notify();
}

/// At most that long, while `dispatch` fills the batch. True: it is full.
inline bool wait_until_full(waiting_entry& e, std::chrono::microseconds time) {
  const future<void> full = e.bell.set_up();
  const bool is_full = full.wait_for(time);
  e.bell.put_away();
  return is_full;
}

/// Gives the batch the deployment's time to wait to become full. Where there is none, requests that are on this rank
/// already still get their turn, so that the first of many does not leave alone: until twice in a row none has come.
inline void request_flow::fill_in_time(waiting_entry& e) {
  if (dispatcher_.told().max_batch <= 1) return;
  bool is_full = dispatcher_.fill(*e.work);
  end_unwanted();
  const std::chrono::microseconds patience = dispatcher_.told().wait;
  if (patience.count() > 0) {
    if (!is_full) wait_until_full(e, patience);
    return;
  }
  for (int in_vain = 0; !is_full && in_vain < 2;) {
    const std::size_t before = e.work->requests.size();
    is_full = wait_until_full(e, std::chrono::microseconds(1));
    in_vain = e.work->requests.size() == before ? in_vain + 1 : 0;
  }
}

}  // namespace manta::serve::detail
