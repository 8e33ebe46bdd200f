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
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "manta/actor.hpp"
#include "manta/promise.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/heartbeat.hpp"
#include "manta/serve/overloaded.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/versions.hpp"

namespace manta::serve::detail {

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
    versions_.open(recipe<R(A...), C...>::template of<Target>(), arguments);
    const options& o = dispatcher_.told();
    if (o.max == 0 && o.health_every.count() == 0) return;
    auto period = std::chrono::milliseconds(1000);
    if (o.max > 0) period = std::min(period, o.down_after / 4);
    if (o.health_every.count() > 0) period = std::min(period, o.health_every);
    heartbeat_ = std::make_unique<heartbeat>([this] { tend(); }, std::max(period, std::chrono::milliseconds(10)));
  }
  /// A new version, or a canary if the weight is below 1. Throws what a constructor threw; nothing has changed then.
  template <class Target, class... C>
  void update(double weight, const kept_arguments<C...>& arguments) {
    change(weight, recipe<R(A...), C...>::template of<Target>(), arguments);
  }
  /// Likewise of the function or class of the present version.
  template <class... C>
  void update_alike(double weight, const kept_arguments<C...>& arguments) {
    change(weight, versions_.template present_recipe<C...>(), arguments);
  }
  void weigh(double weight) { versions_.weigh(weight); }
  void promote() {
    const turn mine(*this);
    finish(versions_.promote());
  }
  void rollback() {
    const turn mine(*this);
    versions_.rollback();
  }
  void reconfigure(const settings& s) {
    const turn mine(*this);
    if (versions_.has_canary()) throw error("it has a canary; promote it or roll it back before");
    replicas_.reconfigure(s);
  }
  std::vector<actor<replica_type>> ready_replicas() { return replicas_.ready(); }

  R call(const call_options& o, const A&... arguments) {
    rethrow_as<overloaded>();
    rethrow_as<unavailable>();
    rethrow_as<expired>();
    rethrow_as<replica_died>();
    if (versions_.canary_has_turn()) return versions_.call_canary(o, arguments...);
    entry e{{.options = o, .caller = this_task::get_stop_token()}, {arguments...}};
    adapt();
    dispatcher_.make_room();
    end_unwanted();
    dispatcher_.admit(e);
    try {
      dispatch();
      while (!e.answer && !e.failure) e.work ? carry(e) : wait_for_turn(e);
    } catch (...) {
      leave(e);
      throw;
    }
    notify_changes();
    if (!watched_ && replicas_.are_starting() && dispatcher_.has_queue())
      ring(*static_cast<entry*>(dispatcher_.front()));
    if (e.failure) std::rethrow_exception(e.failure);
    if constexpr (!std::is_void_v<R>) return std::move(*e.answer);
  }

  [[nodiscard]] serve::status status() {
    adapt();
    collect_started();
    dispatcher_.drop_all_unwanted();
    end_unwanted();
    serve::status s = dispatcher_.report();
    versions_.add_canary_to(s);
    return s;
  }
  /// Takes no more requests, and waits until those that are here are answered.
  void drain() {
    dispatcher_.drain();
    versions_.drain_canary();
    while (dispatcher_.outstanding() > 0) wait_for_change();
  }
  /// Asks each replica whether it is well, and starts another in the place of one that is not.
  void check() {
    replicas_.check();
    adapt();
    versions_.check_canary();
  }

 private:
  /// Updates and new settings come one after the other.
  class turn {
   public:
    explicit turn(router& r) : router_(r) {
      while (r.is_changing_) r.wait_for_change();
      r.is_changing_ = true;
    }
    ~turn() {
      router_.is_changing_ = false;
      router_.notify_changes();
    }
    turn(const turn&) = delete;

   private:
    router& router_;
  };
  template <class... C>
  void change(double weight, const recipe<R(A...), C...>& how, const kept_arguments<C...>& arguments) {
    const turn mine(*this);
    if (!(weight > 0 && weight <= 1))
      throw error(".weight is " + std::to_string(weight) + "; wanted is a part of the requests, above 0 and at most 1");
    weight < 1 ? versions_.start_canary(weight, how, arguments) : finish(versions_.update(how, arguments));
  }
  /// A new version has taken over: ends a canary, and the old replicas with their last answers.
  void finish(const std::vector<std::size_t>& old) {
    dispatch();
    versions_.end_canary();
    for (std::size_t r : old) {
      while (!dispatcher_.is_idle(r)) wait_for_change();
      replicas_.end(r);
    }
  }

  struct entry : request {
    std::tuple<A...> arguments;
    std::optional<value_of<R>> answer = {};
    std::exception_ptr failure = {};
    std::unique_ptr<dispatcher::batch> work = {};  ///< this request carries it
    std::optional<promise<void>> bell = {};        ///< while it waits
    bool is_rung = false;
  };
  static void ring(entry& e) {
    if (!e.bell || std::exchange(e.is_rung, true)) return;
    e.bell->set_value();
  }

  static future<void> set_up_bell(entry& e) {
    e.bell.emplace();
    e.is_rung = false;
    return e.bell->get_future();
  }
  static void put_away_bell(entry& e) {
    ring(e);  // a promise that never gets a value counts as broken
    e.bell.reset();
  }

  /// Ends requests that have left the queue because their time is over, or their calls have been cancelled. To be called
  /// before this call waits again.
  void end_unwanted() {
    for (request* r : dispatcher_.take_unwanted()) {
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
    for (;;) {
      dispatcher::batch b = dispatcher_.next();
      if (b.requests.empty()) break;
      entry& carrier = *static_cast<entry*>(b.requests.front());
      carrier.work = std::make_unique<dispatcher::batch>(std::move(b));
      ring(carrier);
    }
    end_unwanted();
  }

  /// Waits until this request is answered or has to carry a batch. One waiting request also watches replicas that
  /// start.
  void wait_for_turn(entry& e) {
    std::vector<future<void>> events{set_up_bell(e)};
    const bool watches = !watched_ && replicas_.are_starting();
    if (watches) replicas_.append_starts(events);
    watched_ = watched_ || watches;
    // A request whose time is over is no longer in the queue: a replica has it, and it waits for the answer alone.
    const auto left = e.options.deadline - (request::clock::now() - e.arrived);
    if (left.count() > 0) {
      wait(events, {.count = 1, .timeout = left + std::chrono::milliseconds(1)});
      put_away_bell(e);
      dispatcher_.drop_if_unwanted(e);
      end_unwanted();
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
    const auto* const replica_of_batch = replicas_.find(b.replica);
    if (replica_of_batch == nullptr) return send_elsewhere(b);
    std::vector<std::tuple<A...>> arguments;
    arguments.reserve(b.requests.size());
    for (request* r : b.requests) arguments.push_back(static_cast<entry*>(r)->arguments);
    try {
      auto answers = async<&replica_type::run>(*replica_of_batch, std::move(arguments)).get();
      dispatcher_.finished(b);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        static_cast<entry*>(b.requests[i])->answer = std::move(answers[i]);
        dispatcher_.answered(*b.requests[i], true);
      }
    } catch (const actor_died& d) {
      dispatcher_.finished(b);
      lost(b, death(d), 3);
    } catch (const rank_lost& d) {  // its process has ended while it worked on these requests, perhaps because of them
      dispatcher_.finished(b);
      lost(b, death(d), 1);
    } catch (const task_failed& t) {
      dispatcher_.finished(b);
      const auto why = std::make_exception_ptr(
          error("manta: serve: the deployment '" + dispatcher_.told().name + "' failed: " + t.details().what));
      if (t.details().type == "manta::fatal") {  // the method ended its replica
        lost(b, why, 3);
      } else {
        refused(b, why, is_overload(t));
      }
    } catch (const std::exception& x) {  // of a type that travels as itself
      dispatcher_.finished(b);
      refused(b, std::current_exception(), is_overload(x));
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
    if (patience.count() <= 0) return;
    const bool is_full = dispatcher_.fill(b);
    end_unwanted();
    if (is_full) return;
    const future<void> bell = set_up_bell(e);
    collecting_.emplace_back(&e, &b);  // dispatch fills the batch, and rings when it is full
    bell.wait_for(patience);
    std::erase_if(collecting_, [&](const auto& c) { return c.first == &e; });
    put_away_bell(e);
  }

  /// The replica of this batch has died before it got it: it has not lost the requests, and others get them.
  void send_elsewhere(const dispatcher::batch& b) {
    dispatcher_.finished(b);
    replicas_.end(b.replica);
    for (auto r = b.requests.rbegin(); r != b.requests.rend(); ++r) dispatcher_.again(**r);
    adapt();
    dispatch();
  }
  std::exception_ptr death(const error& e) const {
    return std::make_exception_ptr(replica_died("manta: serve: a replica of the deployment '" +
                                                dispatcher_.told().name + "' died with a request: " + e.what()));
  }
  /// The replica of this batch is dead. Requests that may be repeated are, as often as that.
  void lost(const dispatcher::batch& b, const std::exception_ptr& why, int most) {
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
  void refused(const dispatcher::batch& b, const std::exception_ptr& why, bool is_busy) {
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
  /// Fails all that waits if nobody is left to answer it.
  void give_up_without_replicas(const std::string& why) {
    if (dispatcher_.count(true) + dispatcher_.count(false) > 0) return;
    for (request* r : dispatcher_.give_up()) {
      fail(*r, std::make_exception_ptr(unavailable("manta: serve: the deployment '" + dispatcher_.told().name +
                                                   "' has no replicas, and no new one can be made: " + why)));
      ring(static_cast<entry&>(*r));
    }
  }

  /// Called from time to time, also without requests; does not wait.
  void tend() {
    collect_started();
    replicas_.look_after();
    adapt();
    dispatch();
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
  replica_set<R(A...)> replicas_{dispatcher_};
  versions<R(A...)> versions_{dispatcher_, replicas_};
  std::vector<std::pair<entry*, dispatcher::batch*>> collecting_;  ///< carriers whose batches wait to become full
  bool is_changing_ = false;                                       ///< an update or new settings are under way
  bool watched_ = false;                                           ///< a waiting request looks at replicas that start
  std::vector<promise<void>> changes_;
  std::unique_ptr<heartbeat> heartbeat_;  ///< the first to go
};

}  // namespace manta::serve::detail
