// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The router of a deployment: the actor that every call goes through. It answers requests (request_flow.hpp), keeps the
// replicas (replica_set.hpp) and changes their version (versions.hpp). The types of requests and the deployed class are
// known to its templates alone, so all else is compiled once.
#pragma once

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
#include "manta/serve/waiting_calls.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

class router {
 public:
  /// `signature` is what requests take and give, as typeid names it.
  MANTA_DECL router(const options& o, std::string signature);
  MANTA_DECL ~router();

  /// Starts the replicas and waits for them. Throws what a constructor threw.
  template <class Target, class... C>
  void open(type_tag<Target>, const kept_arguments<C...>& arguments) {
    begin(recipe_of<Target, C...>(arguments));
  }
  /// A new version, or a canary if the weight is below 1. Throws what a constructor threw; nothing has changed then.
  template <class Target, class... C>
  void update(type_tag<Target>, double weight, const kept_arguments<C...>& arguments) {
    change(weight, [&] { return recipe_of<Target, C...>(arguments); });
  }
  /// Likewise of the function or class of the present version.
  template <class... C>
  void update_alike(double weight, const kept_arguments<C...>& arguments) {
    change(weight, [&] { return versions_.recipe_with(arguments); });
  }
  template <class R, class... A>
  R call(type_tag<R>, const call_options& o, A... arguments) {
    const auto caller = begin_call();
    if (versions_.canary_has_turn()) {
      const actor<router> its = versions_.canary_router();  // stays while this call waits
      const future<R> answer = async<&router::call<R, A...>>(its, type_tag<R>(), o, std::move(arguments)...);
      wait_while_wanted(answer, [&] { return !caller.stop_requested(); });
      return sentence(answer);
    }
    request asked;
    asked.options = o;
    asked.caller = caller;
    waiting_request<R(A...)> mine(std::move(asked), std::move(arguments)...);
    flow_.run(mine);
    if (mine.failure) std::rethrow_exception(mine.failure);
    if constexpr (!std::is_void_v<R>) return std::move(*mine.answer);
  }

  const std::string& signature() const { return signature_; }
  MANTA_DECL void weigh(double weight);
  MANTA_DECL void promote();
  MANTA_DECL void rollback();
  /// Gives both versions new settings. Throws what `reconfigure` of the class threw.
  MANTA_DECL void reconfigure(const settings& s);
  MANTA_DECL std::vector<actor<replica>> ready_replicas();
  [[nodiscard]] MANTA_DECL serve::status status();
  /// Takes no more requests, and waits until those that are here are answered.
  MANTA_DECL void drain();
  /// Asks each replica whether it is well, and starts another in the place of one that is not.
  MANTA_DECL void check();

 private:
  class turn;

  template <class Target, class... C>
  static recipe recipe_of(const kept_arguments<C...>& arguments) {
    return {replica_set::maker_of<Target, C...>(arguments),
            [arguments](const actor<router>& at) {
              return async<&router::open<Target, C...>>(at, type_tag<Target>(), arguments);
            },
            &router::recipe_of<Target, C...>};
  }
  MANTA_DECL void begin(recipe how);
  /// Makes the recipe when no other change is under way.
  MANTA_DECL void change(double weight, const std::function<recipe()>& how);
  MANTA_DECL this_task::stop_token begin_call() const;
  void finish(const std::vector<std::size_t>& old);
  void tend();

  std::string signature_;
  dispatcher dispatcher_;
  changes changes_;
  replica_set replicas_{dispatcher_};
  versions versions_{dispatcher_, replicas_};
  request_flow flow_{dispatcher_, replicas_, changes_};
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
MANTA_DECL void promote(const actor<router>& r, const std::string& name);
MANTA_DECL void rollback(const actor<router>& r, const std::string& name);

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/router.ipp"
#include "manta/serve/versions.ipp"
#endif
