// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The router of a deployment: the actor that every call goes through. It answers requests (request_flow.hpp), keeps the
// replicas (replica_set.hpp) and changes their version (versions.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/heartbeat.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/request_flow.hpp"
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
  /// Gives both versions new settings. Throws what `reconfigure` of the class threw.
  void reconfigure(const settings& s) {
    const turn mine(*this);
    versions_.reconfigure(s);
  }
  std::vector<actor<replica_type>> ready_replicas() { return replicas_.ready(); }

  R call(const call_options& o, A... arguments) {
    rethrow_as<overloaded>();
    rethrow_as<unavailable>();
    rethrow_as<expired>();
    rethrow_as<replica_died>();
    rethrow_as<request_failed>();
    const auto caller = this_task::get_stop_token();
    if (versions_.canary_has_turn()) return versions_.call_canary(caller, o, std::move(arguments)...);
    waiting_request<R(A...)> mine{{.options = o, .caller = caller}, {std::move(arguments)...}};
    flow_.run(mine);
    if (mine.failure) std::rethrow_exception(mine.failure);
    if constexpr (!std::is_void_v<R>) return std::move(*mine.answer);
  }

  [[nodiscard]] serve::status status() {
    flow_.adapt();
    flow_.collect_started();
    dispatcher_.drop_all_unwanted();
    flow_.end_unwanted();
    serve::status s = dispatcher_.report();
    versions_.add_canary_to(s);
    return s;
  }
  /// Takes no more requests, and waits until those that are here are answered.
  void drain() {
    dispatcher_.drain();
    versions_.drain_canary();
    while (dispatcher_.outstanding() > 0) changes_.wait();
  }
  /// Asks each replica whether it is well, and starts another in the place of one that is not.
  void check() {
    replicas_.check();
    flow_.adapt();
    versions_.check_canary();
  }

 private:
  /// Updates and new settings come one after the other.
  class turn {
   public:
    explicit turn(router& r) : router_(r) {
      while (r.is_changing_) r.changes_.wait();
      r.is_changing_ = true;
    }
    ~turn() {
      router_.is_changing_ = false;
      router_.changes_.notify();
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
    flow_.dispatch();
    versions_.end_canary();
    for (std::size_t r : old) {
      while (!dispatcher_.is_idle(r)) changes_.wait();
      replicas_.end(r);
    }
  }
  /// Called from time to time, also without requests; does not wait.
  void tend() {
    flow_.collect_started();
    replicas_.look_after();
    flow_.adapt();
    flow_.dispatch();
  }

  dispatcher dispatcher_;
  changes changes_;
  replica_set<R(A...)> replicas_{dispatcher_};
  versions<R(A...)> versions_{dispatcher_, replicas_};
  request_flow<R(A...)> flow_{dispatcher_, replicas_, changes_};
  bool is_changing_ = false;              ///< an update or new settings are under way
  std::unique_ptr<heartbeat> heartbeat_;  ///< the first to go
};

}  // namespace manta::serve::detail
