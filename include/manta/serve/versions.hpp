// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The versions of a deployment: the present one, whose replicas its router has, and a canary that gets a part of the
// requests. A canary has a router of its own, with a queue and replicas; the deployment's router sends it its part, and
// takes over its replicas when it is promoted.
#pragma once

#include <algorithm>
#include <any>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/run.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_calls.hpp"
#include "manta/serve/weighted_turns.hpp"
#include "manta/this_task.hpp"

namespace manta::serve::detail {

template <class Signature>
class router;

/// How replicas of a function or class are made from arguments of these types.
template <class Signature, class... C>
struct recipe {
  using maker = typename replica_set<Signature>::maker;
  maker (*make)(const kept_arguments<C...>& arguments);
  /// Lets a router start its replicas.
  future<void> (*open)(const actor<router<Signature>>& at, const kept_arguments<C...>& arguments);

  template <class Target>
  static recipe of() {
    return {&replica_set<Signature>::template maker_of<Target, C...>,
            [](const actor<router<Signature>>& at, const kept_arguments<C...>& arguments) {
              return async<&router<Signature>::template open<Target, C...>>(at, arguments);
            }};
  }
};

template <class Signature>
class versions;

template <class R, class... A>
class versions<R(A...)> {
 public:
  using router_type = router<R(A...)>;
  using replicas_type = replica_set<R(A...)>;
  template <class... C>
  using recipe_for = recipe<R(A...), C...>;

  versions(dispatcher& d, replicas_type& r) : dispatcher_(d), replicas_(r) {}
  versions(const versions&) = delete;

  /// Starts the first replicas and waits for them. Throws what a constructor threw.
  template <class... C>
  void open(const recipe_for<C...>& how, const kept_arguments<C...>& arguments) {
    replicas_.open(how.make(arguments));
    recipe_ = how;
  }
  /// Starts replicas of a new version, and waits until all are ready. From then on others get no more requests: gives
  /// their numbers. Throws what a constructor threw; nothing has changed then.
  template <class... C>
  std::vector<std::size_t> update(const recipe_for<C...>& how, const kept_arguments<C...>& arguments) {
    const std::vector<std::size_t> old = replicas_.update(how.make(arguments));
    recipe_ = how;
    return old;
  }
  /// A maker of replicas of the present version's function or class. Throws if that was made from other types.
  template <class... C>
  [[nodiscard]] recipe_for<C...> present_recipe() const {
    if (const auto* const how = std::any_cast<recipe_for<C...>>(&recipe_)) return *how;
    throw error(
        "the arguments have other types than those that it was deployed with; "
        "serve::update<F>(deployment, ..) takes another function, class or constructor");
  }

  /// Starts a canary in the place of one that may be there, and waits. Throws what a constructor threw; nothing has
  /// changed then.
  template <class... C>
  void start_canary(double weight, const recipe_for<C...>& how, const kept_arguments<C...>& arguments) {
    options o = dispatcher_.told();
    const int replicas = dispatcher_.count(true) + dispatcher_.count(false);
    o.replicas = std::max(1, static_cast<int>(std::ceil(weight * replicas - 1e-9)));
    canary next{spawn<router_type>({.rank = manta::rank(), .concurrency = 1 << 20}, o), turns_for(weight),
                how.make(arguments), how};
    sentence(how.open(next.at, arguments));
    end_canary();
    canary_ = std::move(next);
  }
  [[nodiscard]] bool has_canary() const { return canary_.has_value(); }
  /// Throws, and changes nothing, unless the weight is from 0 to 1.
  void weigh(double weight) { present_canary().turns = turns_for(weight); }
  /// Gives both versions new settings, first the present one. Throws what `reconfigure` of a class threw: that of the
  /// present version, and nothing has changed; that of the canary, and the canary alone keeps its settings.
  void reconfigure(const settings& s) {
    replicas_.reconfigure(s);
    if (!canary_) return;
    const actor<router_type> its = canary_->at;
    try {
      sentence(async<&router_type::reconfigure>(its, s));
    } catch (const error& e) {
      throw error(std::string("its canary refuses them, and the present version has them: ") + e.what());
    }
    if (canary_ && canary_->at == its) canary_->given = s;
  }
  /// As update, with the canary for the new version; the canary stays, for what it has, until end_canary.
  std::vector<std::size_t> promote() {
    const canary c = present_canary();
    auto its = async<&router_type::ready_replicas>(c.at).get();
    const std::vector<std::size_t> old = replicas_.update(c.make, std::move(its), c.given);
    recipe_ = c.how;
    return old;
  }
  void rollback() {
    present_canary();
    end_canary();
  }
  /// The canary, if there is one, gets no more requests; waits until it has answered those that it has.
  void end_canary() {
    if (!canary_) return;
    const actor<router_type> its = canary_->at;
    canary_.reset();
    async<&router_type::drain>(its).get();
    dispatcher_.add_counts(async<&router_type::status>(its).get());
  }

  /// Whether the next request is the canary's.
  bool canary_has_turn() { return canary_ && !dispatcher_.is_draining() && canary_->turns.next() == 1; }
  R call_canary(const this_task::stop_token& caller, const call_options& o, A&&... arguments) const {
    const actor<router_type> its = canary_->at;  // stays while this call waits
    const future<R> answer = async<&router_type::call>(its, o, std::forward<A>(arguments)...);
    wait_while_wanted(answer, [&] { return !caller.stop_requested(); });
    return sentence(answer);
  }
  void drain_canary() const {
    if (canary_) async<&router_type::drain>(actor<router_type>(canary_->at)).get();
  }
  void check_canary() const {
    if (canary_) async<&router_type::check>(actor<router_type>(canary_->at)).get();
  }
  void add_canary_to(status& s) const {
    if (!canary_) return;
    const double weight = canary_->turns.share(1);
    s.add_canary(async<&router_type::status>(actor<router_type>(canary_->at)).get(), weight);
  }

 private:
  struct canary {
    actor<router_type> at;
    weighted_turns turns;
    typename replicas_type::maker make;
    std::any how;  ///< its recipe
    settings given = {};
  };
  static weighted_turns turns_for(double weight) {
    if (!(weight >= 0 && weight <= 1))
      throw error("a canary's weight is " + std::to_string(weight) + "; it has to be from 0 to 1");
    return weighted_turns({1 - weight, weight});
  }
  canary& present_canary() {
    if (!canary_) throw error("it has no canary; update({.weight = ..}, ..) starts one");
    return *canary_;
  }

  dispatcher& dispatcher_;
  replicas_type& replicas_;
  std::any recipe_;  ///< of the present version
  std::optional<canary> canary_;
};

}  // namespace manta::serve::detail
