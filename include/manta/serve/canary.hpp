// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A second version of a deployment, which gets a part of the requests. It has a router of its own, with a queue and
// replicas; the deployment's router sends it its part, and takes over its replicas when it is promoted.
#pragma once

#include <algorithm>
#include <any>
#include <cmath>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/weighted_turns.hpp"

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
class canary {
 public:
  using maker = typename replica_set<Signature>::maker;
  using handle = actor<router<Signature>>;

  /// Starts it, and waits. Throws what a constructor threw. `o`: of the deployment, `replicas`: those that it has.
  template <class... C>
  static canary start(options o, int replicas, double weight, const recipe<Signature, C...>& how,
                      const kept_arguments<C...>& arguments) {
    canary c;
    c.weigh(weight);
    o.replicas = std::max(1, static_cast<int>(std::ceil(weight * replicas - 1e-9)));
    c.at_ = spawn<router<Signature>>({.rank = static_cast<int>(rank()), .concurrency = 1 << 20}, o);
    get_or_say(how.open(c.at_, arguments));
    c.make_ = how.make(arguments);
    c.recipe_ = how;
    return c;
  }
  /// Throws, and changes nothing, unless the weight is from 0 to 1.
  void weigh(double weight) {
    if (!(weight >= 0 && weight <= 1))
      throw error("a canary's weight is " + std::to_string(weight) + "; it has to be from 0 to 1");
    turns_ = weighted_turns({1 - weight, weight});
  }
  [[nodiscard]] double weight() const { return turns_.share(1); }
  /// Whether the next request is the canary's.
  bool has_turn() { return turns_.next() == 1; }
  [[nodiscard]] const handle& at() const { return at_; }
  [[nodiscard]] const maker& make() const { return make_; }
  /// A recipe, of some types of arguments.
  [[nodiscard]] const std::any& how() const { return recipe_; }

 private:
  handle at_;
  weighted_turns turns_;
  maker make_;
  std::any recipe_;
};

}  // namespace manta::serve::detail
