// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The way of requests through a router: into the queue, to a replica in a batch, and back with the answer. A call waits
// here until its request is answered. One request of each batch, the carrier, sends the batch to the replica and gives
// the answers to the others. dispatcher.hpp decides; this part waits and communicates.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/serve/failed_batches.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_request.hpp"
#include "manta/this_task.hpp"
#include "manta/wait.hpp"

namespace manta::serve::detail {

template <class Signature>
class request_flow;

template <class R, class... A>
class request_flow<R(A...)> {
  using replica_type = replica<R(A...)>;

 public:
  using entry = waiting_request<R(A...)>;

  request_flow(dispatcher& d, replica_set<R(A...)>& r, changes& c)
      : dispatcher_(d), replicas_(r), changes_(c), failed_(d, r) {}
  request_flow(const request_flow&) = delete;

  /// Returns when the request has an answer, or a failure. Throws overloaded and unavailable, and what a wait throws.
  void run(entry& e) {
    adapt();
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
    if (!watched_ && replicas_.are_starting() && dispatcher_.has_queue()) of(dispatcher_.front()).bell.ring();
  }
  /// Gives requests to replicas that have room. The first request of each batch carries it.
  void dispatch() {
    for (entry* carrier : collecting_) {
      if (dispatcher_.fill(*carrier->work)) carrier->bell.ring();
    }
    for (;;) {
      dispatcher::batch b = dispatcher_.next();
      if (b.requests.empty()) break;
      entry& carrier = of(b.requests.front());
      carrier.work = std::make_unique<dispatcher::batch>(std::move(b));
      if (dispatcher_.told().max_batch > 1) collecting_.push_back(&carrier);
      carrier.bell.ring();
    }
    end_unwanted();
  }
  /// Starts and ends replicas until there are as many as there should be.
  void adapt() {
    try {
      replicas_.adapt();
    } catch (const error& e) {
      give_up_without_replicas(e.what());
    }
  }
  void collect_started() {
    const std::string problem = replicas_.collect_started();
    if (!problem.empty()) give_up_without_replicas(problem);
  }
  /// Ends requests that have left the queue because their time is over, or their calls have been cancelled. To be
  /// called before this call waits again.
  void end_unwanted() {
    for (request* r : dispatcher_.take_unwanted()) {
      const std::string& name = dispatcher_.told().name;
      of(r).failure = r->caller.stop_requested()
                          ? entry::cancellation(name)
                          : std::make_exception_ptr(expired("manta: serve: a request waited longer in the queue of '" +
                                                            name + "' than its deadline allows"));
      of(r).bell.ring();
    }
  }

 private:
  static entry& of(request* r) { return *static_cast<entry*>(r); }

  /// Waits until this request is answered or has to carry a batch. One waiting request also watches replicas that
  /// start.
  void wait_for_turn(entry& e) {
    std::vector<future<void>> events{e.bell.set_up()};
    const bool watches = !watched_ && replicas_.are_starting();
    if (!watches) return wait_for_one(e, events);
    replicas_.append_starts(events);
    watched_ = true;
    try {
      wait_for_one(e, events);
    } catch (...) {
      watched_ = false;
      throw;
    }
    watched_ = false;
    collect_started();
    dispatch();
  }
  void wait_for_one(entry& e, const std::vector<future<void>>& events) {
    // A request whose time is over is no longer in the queue: a replica has it, and it waits for the answer alone.
    const auto left = e.options.deadline - (request::clock::now() - e.arrived);
    if (left.count() > 0) {
      wait(events, {.count = 1, .timeout = left + std::chrono::milliseconds(1)});
      e.bell.put_away();
      dispatcher_.drop_if_unwanted(e);
      end_unwanted();
    } else {
      wait(events, {.count = 1});
      e.bell.put_away();
    }
  }

  /// Sends the batch to its replica, waits, and gives each request its answer.
  void carry(entry& e) {
    fill_in_time(e);
    std::erase(collecting_, &e);
    dispatcher::batch b = std::move(*std::exchange(e.work, nullptr));
    if (const auto* const its = replicas_.find(b.replica)) {
      run_batch(b, actor<replica_type>(*its));
    } else {
      failed_.send_elsewhere(b);
    }
    adapt();
    dispatch();
    changes_.notify();
  }
  void run_batch(const dispatcher::batch& b, const actor<replica_type>& its) {
    const std::uint64_t number = this_task::id();  // of the carrier: unique
    std::vector<std::tuple<A...>> arguments;
    arguments.reserve(b.requests.size());
    for (request* r : b.requests) arguments.push_back(given_to_replica(of(r)));
    try {
      auto answers = async<&replica_type::run>(its, number, std::move(arguments));
      if (!wait_while_wanted(answers, [&] { return is_wanted(b); })) return abandon(b, its, number);
      give(b, std::move(answers).get());
    } catch (...) {
      failed_.settle(b);
    }
    wake(b);
  }
  /// The arguments of a request; it keeps them itself if it may be tried again.
  std::tuple<A...> given_to_replica(entry& e) const {
    if constexpr ((std::is_copy_constructible_v<A> && ...)) {
      if (dispatcher_.told().idempotent) return e.arguments;
    }
    return std::move(e.arguments);
  }
  void give(const dispatcher::batch& b, typename replica_type::answers answers) {
    dispatcher_.finished(b);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      of(b.requests[i]).answer = std::move(answers[i]);
      dispatcher_.answered(*b.requests[i], true);
    }
  }
  static bool is_wanted(const dispatcher::batch& b) {
    return std::any_of(b.requests.begin(), b.requests.end(), [](request* r) { return !r->caller.stop_requested(); });
  }
  /// The replica has been told, and gets no other batch in the place of this one until it has ended it.
  void abandon(const dispatcher::batch& b, const actor<replica_type>& its, std::uint64_t number) {
    failed_.abandon(b);
    wake(b);
    try {
      async<&replica_type::end_of>(its, number).get().get();
    } catch (const error&) {
      replicas_.end(b.replica);  // it has died
    }
    dispatcher_.finished(b);
  }
  static void wake(const dispatcher::batch& b) {
    for (request* r : b.requests) {
      if (of(r).has_ended()) of(r).bell.ring();
    }
  }

  /// A call that ends by an exception of its own wait.
  void leave(entry& e) {
    dispatcher_.forget(e);
    std::erase(collecting_, &e);
    if (e.work) {
      failed_.put_back(*std::exchange(e.work, nullptr), e);
      dispatch();
    }
    changes_.notify();
  }

  /// Gives the batch the deployment's time to wait to become full. Where there is none, requests that are on this rank
  /// already still get their turn, so that the first of many does not leave alone: until twice in a row none has come.
  void fill_in_time(entry& e) {
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
  /// At most that long, while `dispatch` fills the batch. True: it is full.
  static bool wait_until_full(entry& e, std::chrono::microseconds time) {
    const future<void> full = e.bell.set_up();
    const bool is_full = full.wait_for(time);
    e.bell.put_away();
    return is_full;
  }
  void give_up_without_replicas(const std::string& why) {
    if (dispatcher_.count(true) + dispatcher_.count(false) == 0) failed_.give_up(why);
  }

  dispatcher& dispatcher_;
  replica_set<R(A...)>& replicas_;
  changes& changes_;
  failed_batches<R(A...)> failed_;
  std::vector<entry*> collecting_;  ///< carriers whose batches are not on their way yet, and may grow
  bool watched_ = false;            ///< a waiting request looks at replicas that start
};

}  // namespace manta::serve::detail
