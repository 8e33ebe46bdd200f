// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The router of a deployment: the actor that every call goes through. It answers requests (request_flow.hpp), keeps the
// replicas (replica_set.hpp) and changes their version (versions.hpp). The types of requests and the deployed class are
// known to its templates alone, so all else is compiled once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/serve/dispatcher.hpp"
#include "manta/serve/heartbeat.hpp"
#include "manta/serve/replica_health.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/request_flow.hpp"
#include "manta/serve/rolling_update.hpp"
#include "manta/serve/versions.hpp"
#include "manta/serve/waiting_calls.hpp"
#include "manta/serve/waiting_rows.hpp"
#include "manta/serve/waiting_stream.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

class router;
/// Where the values of a stream will be; the answer is a future that ends when the stream begins.
MANTA_DECL future<future<stream_place>> ask_place(const actor<router>& at, const stream_key& key);

class router {
 public:
  /// `signature` is what requests take and give, as typeid names it.
  MANTA_DECL router(const options& o, std::string signature);
  MANTA_DECL ~router();

  /// Starts the replicas and waits for them. Throws what a constructor threw.
  template <class Target, class... C>
  void open(type_tag<Target>, const kept_arguments<C...>& arguments) {
    begin(recipe_of<Target, C...>(kept_here(arguments)));
  }
  /// A new version, or a canary if the weight is below 1. Throws what a constructor threw; nothing has changed then.
  template <class Target, class... C>
  void update(type_tag<Target>, double weight, const kept_arguments<C...>& arguments) {
    change(weight, [&] { return recipe_of<Target, C...>(kept_here(arguments)); });
  }
  /// Begins a version with the function or class of the present one, and these arguments.
  template <class... C>
  void update_alike(double weight, const kept_arguments<C...>& arguments) {
    change(weight, [&] { return versions_.recipe_with(kept_here(arguments)); });
  }
  /// Begins a version with the function or class and the arguments of the present one: the constructors run again.
  MANTA_DECL void update_again(double weight);
  template <class R, class... A>
  R call(type_tag<R>, const call_options& o, A... arguments) {
    const auto caller = begin_call();
    if (versions_.canary_has_turn(o.version)) {
      const actor<router> its = versions_.canary_router();  // stays while this call waits
      const future<R> answer = async<&router::call<R, A...>>(its, type_tag<R>(), of_canary(o), std::move(arguments)...);
      wait_while_wanted(answer, caller);
      return sentence(answer);
    }
    waiting_request<R(A...)> mine(asked_by(caller, o), std::move(arguments)...);
    flow_.run(mine);
    if (mine.failure) std::rethrow_exception(mine.failure);
    if constexpr (!std::is_void_v<R>) return std::move(*mine.answer);
  }

  /// Many requests as one: rows of tensors. `self` is this router, which calls itself for each slice.
  template <class R, class... A>
  answered_rows<R> call_rows(type_tag<R>, const actor<router>& self, const call_options& o,
                             std::vector<std::tuple<A...>> rows) {
    const auto caller = begin_call();
    if (versions_.canary_has_turn(o.version)) {
      const actor<router> its = versions_.canary_router();
      const auto answer = async<&router::call_rows<R, A...>>(its, type_tag<R>(), its, of_canary(o), std::move(rows));
      wait_while_wanted(answer, caller);
      answered_rows<R> all = sentence(answer);
      all.version = dispatcher_.version() + 1;
      return all;
    }
    typed_rows<R(A...)> mine(std::move(rows), dispatcher_.version());
    run_rows(self, o, caller, mine);
    return std::move(mine.answers);
  }
  /// Runs a slice of rows, which is here already, on a stack of its own.
  MANTA_DECL void run_slice(std::uint64_t number);

  /// A request whose answer comes in many values. Returns at its end; `place_of` says where the values are.
  template <class T, class... A>
  void stream(type_tag<T>, const stream_key& key, const call_options& o, A... arguments) {
    const auto caller = begin_call();
    stream_places::entry place(places_, key);
    if (versions_.canary_has_turn(o.version)) {
      const actor<router> its = versions_.canary_router();
      const future<void> ended =
          async<&router::stream<T, A...>>(its, type_tag<T>(), key, of_canary(o), std::move(arguments)...);
      const future<stream_place> begun = ask_place(its, key).get();
      wait_while_wanted(begun, caller);
      if (begun.ready()) place.set(begun.get());
      wait_while_wanted(ended, caller);
      return sentence(ended);
    }
    waiting_stream<generator<T>(A...)> mine(asked_by(caller, o), place, std::move(arguments)...);
    flow_.run(mine);
    if (mine.failure) std::rethrow_exception(mine.failure);
  }
  future<stream_place> place_of(const stream_key& key) const { return places_.of(key); }

  const std::string& signature() const { return signature_; }
  MANTA_DECL void weigh(double weight);
  MANTA_DECL void promote();
  MANTA_DECL void rollback();
  /// Gives both versions new settings. Throws what `reconfigure` of the class threw.
  MANTA_DECL void reconfigure(const settings& s);
  MANTA_DECL std::vector<placed_replica> ready_replicas();
  [[nodiscard]] MANTA_DECL serve::status status();
  /// Takes no more requests, and waits until those that are here are answered.
  MANTA_DECL void drain();
  /// A server of HTTP has this rank: replicas live elsewhere, where they can, or in any case, and those that are there
  /// already are replaced by others. Waits for these; if they cannot be made, the present ones stay.
  MANTA_DECL void keep_away(int rank, bool in_any_case);
  /// Asks each replica whether it is well, and starts another in the place of one that is not.
  MANTA_DECL void check();

 private:
  class turn;

  template <class Target, class... C>
  static recipe recipe_of(const kept_arguments<C...>& arguments) {
    return {replica_set::maker_of<Target, C...>(arguments), kind_of<Target>,
            [arguments](const actor<router>& at) {
              return async<&router::open<Target, C...>>(at, type_tag<Target>(), arguments);
            },
            &router::recipe_of<Target, C...>};
  }
  MANTA_DECL void begin(recipe how);
  /// Makes the recipe when no other change is under way.
  MANTA_DECL void change(double weight, const std::function<recipe()>& how);
  MANTA_DECL this_task::stop_token begin_call() const;
  MANTA_DECL void run_rows(const actor<router>& self, const call_options& o, const this_task::stop_token& caller,
                           many_rows& rows);
  MANTA_DECL static queued_request asked_by(this_task::stop_token caller, const call_options& o);
  MANTA_DECL static call_options of_canary(call_options o);
  /// A new version has taken over: the canary has no part any more.
  void end_version();
  void tend();  ///< Does the work that falls due without requests too. Does not wait.
  void start_heartbeat();

  std::string signature_;
  dispatcher dispatcher_;
  changes changes_;
  replica_set replicas_{dispatcher_};
  request_flow flow_{dispatcher_, replicas_, changes_};
  rolling_update updates_{dispatcher_, replicas_, changes_, [this] { flow_.dispatch(); }};
  replica_health health_{dispatcher_, replicas_};
  versions versions_{dispatcher_, replicas_, updates_};
  stream_places places_;
  std::map<std::uint64_t, std::shared_ptr<waiting_entry>> slices_;  ///< slices whose calls have not begun
  std::uint64_t next_slice_ = 0;
  bool is_changing_ = false;              ///< an update or new settings are under way
  std::unique_ptr<heartbeat> heartbeat_;  ///< the first to go
};

// What handles ask a router for, and who waits for it; compiled once. `name` is the deployment's, for errors.
MANTA_DECL actor<router> start_router(const options& o, const char* signature);
/// Throws if there is none, or one with another signature; `shown` is the signature in words.
MANTA_DECL actor<router> find_router(const std::string& name, const char* signature, std::string_view shown);
/// Waits; throws the sentence of the innermost error, of a constructor or of `reconfigure`.
MANTA_DECL void wait_for_start(const future<void>& started, const std::string& name, const char* what);
MANTA_DECL serve::status status_of(const actor<router>& r);
MANTA_DECL void drain(const actor<router>& r);
MANTA_DECL void check(const actor<router>& r);
MANTA_DECL void reconfigure(const actor<router>& r, const std::string& name, settings s);
MANTA_DECL void weigh_canary(const actor<router>& r, const std::string& name, double weight);
MANTA_DECL void update_again(const actor<router>& r, const std::string& name, double weight);
MANTA_DECL void promote(const actor<router>& r, const std::string& name);
MANTA_DECL void rollback(const actor<router>& r, const std::string& name);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/router.ipp"
#include "manta/serve/versions.ipp"
#endif
