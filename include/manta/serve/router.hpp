// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The router of a deployment: the actor that every call goes through. It keeps the queue, gives requests to replicas,
// takes another replica where one dies, and starts and ends replicas. dispatcher.hpp decides; this part waits and
// communicates.
//
// A call waits here on a stack of its own until its request is answered. One request of each batch, the carrier, sends
// the batch to the replica and gives the answers to the others, so a router needs neither a thread nor a loop.
#pragma once

#include <cereal/types/tuple.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "manta/actor.hpp"
#include "manta/promise.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/replica.hpp"
#include "manta/wait.hpp"

namespace manta::serve::detail {

/// The arguments of a constructor as values in the object store: sent once to each node, for any number of replicas.
template <class... C>
struct kept_arguments {
  std::tuple<future<C>...> values;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values);
  }
};

template <class Signature>
class router;

template <class R, class... A>
class router<R(A...)> {
  using replica_type = replica<R(A...)>;

 public:
  explicit router(const options& o) : dispatcher_(o) {}

  /// Starts the replicas and waits for them. Throws what a constructor threw.
  template <class Target, class... C>
  void open(const kept_arguments<C...>& arguments) {
    make_ = maker<Target>(arguments);
    start_all(dispatcher_.told().replicas, make_);
  }
  /// Starts replicas of a new version; when all are ready they take over, and the old ones end with their last answers.
  /// Throws what a constructor threw; the old version stays then.
  template <class Target, class... C>
  void update(const kept_arguments<C...>& arguments) {
    const std::vector<std::size_t> old = dispatcher_.all_ready();
    const maker_type next = maker<Target>(arguments);
    start_all(static_cast<int>(std::max<std::size_t>(1, old.size())), next);
    make_ = next;  // replicas that are replaced from now on are of the new version
    dispatcher_.count_version();
    for (std::size_t r : old) dispatcher_.retire(r);
    dispatch();
    for (std::size_t r : old) {
      while (!dispatcher_.is_idle(r)) wait_for_change();
      end_replica(r);
    }
  }

  R call(const call_options& o, const A&... arguments) {
    rethrow_as<overloaded>();
    rethrow_as<unavailable>();
    rethrow_as<expired>();
    rethrow_as<replica_died>();
    entry e{{.options = o, .caller = this_task::get_stop_token()}, {arguments...}};
    adapt();
    if (dispatcher_.is_full()) drop_unwanted();
    dispatcher_.admit(e);
    try {
      dispatch();
      while (!e.answer && !e.failure) e.work ? carry(e) : wait_for_turn(e);
    } catch (...) {
      leave(e);
      throw;
    }
    notify_changes();
    if (!watched_ && !starting_.empty() && dispatcher_.has_queue()) ring(*static_cast<entry*>(dispatcher_.front()));
    if (e.failure) std::rethrow_exception(e.failure);
    if constexpr (!std::is_void_v<R>) return std::move(*e.answer);
  }

  [[nodiscard]] serve::status status() {
    adapt();
    collect_started();
    return dispatcher_.report();
  }
  /// Takes no more requests, and waits until those that are here are answered.
  void drain() {
    dispatcher_.drain();
    while (dispatcher_.outstanding() > 0) wait_for_change();
  }
  /// Asks each replica whether it is well, and starts another in the place of one that is not.
  void check() {
    for (std::size_t r : dispatcher_.all_ready()) {
      try {
        async<&replica_type::check>(replicas_.at(r)).get();
      } catch (const error&) {
        end_replica(r);
      }
    }
    adapt();
  }

 private:
  struct entry : request {
    std::tuple<A...> arguments;
    std::optional<value_of<R>> answer = {};
    std::exception_ptr failure = {};
    std::unique_ptr<dispatcher::batch> work = {};  ///< this request carries it
    std::optional<promise<void>> bell = {};        ///< while it waits
    bool is_rung = false;
  };
  struct start_under_way {
    std::size_t replica;
    future<void> opened;
  };
  using maker_type = std::function<future<void>(const actor<replica_type>&)>;

  template <class Target, class... C>
  static maker_type maker(const kept_arguments<C...>& arguments) {
    return [arguments](const actor<replica_type>& r) {
      return std::apply([&](const auto&... c) { return async<&replica_type::template open<Target, C...>>(r, c...); },
                        arguments.values);
    };
  }

  static void ring(entry& e) {
    if (!e.bell || std::exchange(e.is_rung, true)) return;
    e.bell->set_value();
  }

  static void put_away_bell(entry& e) {
    ring(e);  // a promise that never gets a value counts as broken
    e.bell.reset();
  }

  /// Ends requests in the queue whose time is over, or whose calls have been cancelled.
  void drop_unwanted() {
    for (request* r : dispatcher_.unwanted()) {
      entry& e = *static_cast<entry*>(r);
      const std::string& name = dispatcher_.told().name;
      e.failure = r->caller.stop_requested()
                      ? std::make_exception_ptr(cancelled("manta: serve: a request to '" + name + "' was cancelled"))
                      : std::make_exception_ptr(expired("manta: serve: a request waited longer in the queue of '" +
                                                        name + "' than its deadline allows"));
      ring(e);
    }
  }

  /// Gives requests to replicas that have room. The first request of each batch carries it.
  void dispatch() {
    for (const auto& [carrier, open_batch] : collecting_) {
      if (dispatcher_.fill(*open_batch)) ring(*carrier);
    }
    drop_unwanted();
    for (;;) {
      dispatcher::batch b = dispatcher_.next();
      if (b.requests.empty()) return;
      entry& carrier = *static_cast<entry*>(b.requests.front());
      carrier.work = std::make_unique<dispatcher::batch>(std::move(b));
      ring(carrier);
    }
  }

  /// Waits until this request is answered or has to carry a batch. One waiting request also watches replicas that
  /// start.
  void wait_for_turn(entry& e) {
    e.bell.emplace();
    e.is_rung = false;
    std::vector<future<void>> events{e.bell->get_future()};
    const bool watches = !watched_ && !starting_.empty();
    if (watches) {
      for (const start_under_way& s : starting_) events.push_back(s.opened);
    }
    watched_ = watched_ || watches;
    // A request whose time is over is no longer in the queue: a replica has it, and it waits for the answer alone.
    const auto left = e.options.deadline - (request::clock::now() - e.arrived);
    if (left.count() > 0) {
      wait(events, {.count = 1, .timeout = left + std::chrono::milliseconds(1)});
      put_away_bell(e);
      dispatch();  // ends requests whose time is over
    } else {
      wait(events, {.count = 1});
      put_away_bell(e);
    }
    if (!watches) return;
    watched_ = false;
    collect_started();
    dispatch();
  }

  /// Sends the batch to its replica, waits, and gives each request its answer.
  void carry(entry& e) {
    dispatcher::batch b = std::move(*std::exchange(e.work, nullptr));
    fill_in_time(e, b);
    std::vector<std::tuple<A...>> arguments;
    arguments.reserve(b.requests.size());
    for (request* r : b.requests) arguments.push_back(static_cast<entry*>(r)->arguments);
    try {
      auto answers = async<&replica_type::run>(replicas_.at(b.replica), std::move(arguments)).get();
      dispatcher_.finished(b);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        static_cast<entry*>(b.requests[i])->answer = std::move(answers[i]);
        dispatcher_.answered(*b.requests[i], true);
      }
    } catch (const actor_died& d) {
      dispatcher_.finished(b);
      lost(b, std::make_exception_ptr(replica_died("manta: serve: a replica of the deployment '" +
                                                   dispatcher_.told().name + "' died with a request: " + d.what())));
    } catch (const task_failed& t) {
      dispatcher_.finished(b);
      const auto why = std::make_exception_ptr(
          error("manta: serve: the deployment '" + dispatcher_.told().name + "' failed: " + t.details().what));
      if (t.details().type == "manta::fatal") {  // the method ended its replica
        lost(b, why);
      } else {
        for (request* r : b.requests) fail(*r, why);
      }
    } catch (...) {  // of a type that travels as itself
      dispatcher_.finished(b);
      for (request* r : b.requests) fail(*r, std::current_exception());
    }
    for (request* r : b.requests) {
      entry& other = *static_cast<entry*>(r);
      if (&other != &e && (other.answer || other.failure)) ring(other);
    }
    adapt();
    dispatch();
    notify_changes();
  }

  /// A call that ends by an exception of its own wait: the requests of a batch that it was to carry go back to the
  /// queue.
  void leave(entry& e) {
    dispatcher_.forget(e);
    if (e.work) {
      const dispatcher::batch b = std::move(*std::exchange(e.work, nullptr));
      dispatcher_.finished(b);
      for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
        if (*r != &e) dispatcher_.again(**r);
      }
      dispatch();
    }
    notify_changes();
  }

  /// Where the deployment has a time to wait, gives the batch that time to become full.
  void fill_in_time(entry& e, dispatcher::batch& b) {
    const auto patience = dispatcher_.told().wait;
    if (patience.count() <= 0 || dispatcher_.fill(b)) return;
    e.bell.emplace();
    e.is_rung = false;
    collecting_.emplace_back(&e, &b);  // dispatch fills the batch, and rings when it is full
    e.bell->get_future().wait_for(patience);
    std::erase_if(collecting_, [&](const auto& c) { return c.first == &e; });
    put_away_bell(e);
  }

  /// The replica of this batch is dead.
  void lost(const dispatcher::batch& b, const std::exception_ptr& why) {
    dispatcher_.remove(b.replica);
    replicas_.erase(b.replica);
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) {
      if (dispatcher_.told().idempotent && ++(*r)->tries <= 3) {
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

  /// Starts and ends replicas until there are as many as there should be.
  void adapt() {
    try {
      const int wanted = dispatcher_.wanted();
      while (dispatcher_.count(true) + dispatcher_.count(false) < wanted) start(make_);
      while (dispatcher_.count(true) > wanted && end_idle_replica()) {
      }
    } catch (const error& e) {
      give_up_without_replicas(e.what());
    }
  }
  bool end_idle_replica() {
    for (std::size_t r : dispatcher_.all_ready()) {
      if (!dispatcher_.is_idle(r)) continue;
      end_replica(r);
      return true;
    }
    return false;
  }
  void end_replica(std::size_t r) {
    dispatcher_.remove(r);
    replicas_.erase(r);  // the last handle
  }

  void start(const maker_type& make) {
    const options& o = dispatcher_.told();
    const int ongoing = std::max(1, o.max_ongoing);
    actor<replica_type> a = spawn<replica_type>({.cpus = o.cpus,
                                                 .gpus = o.gpus,
                                                 .resources = o.resources,
                                                 .node = o.node,
                                                 .spread = true,
                                                 .concurrency = ongoing});
    const std::size_t number = dispatcher_.add_starting();
    starting_.push_back({number, make(a)});
    replicas_.emplace(number, std::move(a));
  }
  /// Starts replicas and waits for all: each is ready, or none is left.
  void start_all(int count, const maker_type& make) {
    std::vector<start_under_way> mine;
    std::exception_ptr problem;
    try {
      for (int i = 0; i < count; ++i) {
        start(make);
        mine.push_back(starting_.back());
        starting_.pop_back();
      }
    } catch (...) {
      problem = std::current_exception();
    }
    for (const start_under_way& s : mine) {
      try {
        s.opened.get();
      } catch (const task_failed& t) {
        problem = std::make_exception_ptr(error(t.details().what));
      } catch (...) {
        problem = std::current_exception();
      }
    }
    if (problem) {
      for (const start_under_way& s : mine) end_replica(s.replica);
      std::rethrow_exception(problem);
    }
    for (const start_under_way& s : mine) dispatcher_.ready(s.replica);
  }
  void collect_started() {
    std::string problem;
    std::erase_if(starting_, [&](const start_under_way& s) {
      if (!s.opened.ready()) return false;
      try {
        s.opened.get();
        dispatcher_.ready(s.replica);
      } catch (const std::exception& e) {
        problem = e.what();
        end_replica(s.replica);
      }
      return true;
    });
    if (!problem.empty()) give_up_without_replicas(problem);
  }
  /// Fails all that waits if nobody is left to answer it.
  void give_up_without_replicas(const std::string& why) {
    if (dispatcher_.count(true) + dispatcher_.count(false) > 0) return;
    for (request* r : dispatcher_.give_up()) {
      fail(*r, std::make_exception_ptr(unavailable("manta: serve: the deployment '" + dispatcher_.told().name +
                                                   "' has no replicas, and no new one can be made: " + why)));
      ring(static_cast<entry&>(*r));
    }
  }

  void notify_changes() {
    for (promise<void>& p : std::exchange(changes_, {})) p.set_value();
  }
  void wait_for_change() {
    changes_.emplace_back();
    const future<void> f = changes_.back().get_future();
    f.wait();
  }

  dispatcher dispatcher_;
  maker_type make_;
  std::map<std::size_t, actor<replica_type>> replicas_;
  std::vector<start_under_way> starting_;
  std::vector<std::pair<entry*, dispatcher::batch*>> collecting_;  ///< carriers whose batches wait to become full
  bool watched_ = false;                                           ///< a waiting request looks at starting_
  std::vector<promise<void>> changes_;
};

}  // namespace manta::serve::detail
