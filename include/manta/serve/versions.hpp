// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The versions of a deployment: the present one, whose replicas its router has, and a canary that gets a part of the
// requests. A canary has a router of its own, with a queue and replicas; the deployment's router sends it its part, and
// takes over its replicas when it is promoted.
#pragma once

#include <any>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "manta/actor_handle.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/rolling_update.hpp"
#include "manta/serve/weighted_turns.hpp"

namespace manta::serve::detail {

class router;

/// How replicas of a function or class are made from certain arguments.
struct recipe {
  replica_set::maker make;
  target_kind kind = {};
  /// Lets a router start its replicas.
  std::function<future<void>(const actor<router>& at)> open;
  /// A function that makes the recipe of the same function or class from other arguments of these types.
  std::any from_others;
};

class versions {
 public:
  versions(dispatcher& d, replica_set& r, rolling_update& u) : dispatcher_(d), replicas_(r), updates_(u) {}
  versions(const versions&) = delete;

  /// Starts the first replicas and waits for them. Throws what a constructor threw.
  MANTA_DECL void open(recipe how);
  /// Replaces the replicas by those of a new version, some at a time, and waits. Throws what a constructor threw.
  MANTA_DECL void update(recipe how);
  /// The recipe of the present version.
  [[nodiscard]] const recipe& present() const { return present_; }
  /// A recipe of the present version's function or class. Throws if that was made from other types.
  template <class... C>
  [[nodiscard]] recipe recipe_with(const kept_arguments<C...>& arguments) const {
    if (const auto* const how = std::any_cast<recipe (*)(const kept_arguments<C...>&)>(&present_.from_others))
      return (*how)(arguments);
    refuse_others();
  }

  /// Starts a canary in the place of one that may be there, and waits. Throws what a constructor threw; nothing
  /// has changed then.
  MANTA_DECL void start_canary(double weight, recipe how);
  /// Throws, and changes nothing, unless the weight is from 0 to 1.
  MANTA_DECL void weigh(double weight);
  /// Gives both versions new settings, first the present one. Throws what `reconfigure` of a class threw: that of the
  /// present version, and nothing has changed; that of the canary, and the canary alone keeps its settings.
  MANTA_DECL void reconfigure(const settings& s);
  /// As update, with the canary for the new version; the canary stays, for what it has, until end_canary.
  MANTA_DECL void promote();
  MANTA_DECL void rollback();
  /// The canary, if there is one, gets no more requests; waits until it has answered those that it has.
  MANTA_DECL void end_canary();

  /// Whether the next request, which asks for this version or for any (0), is the canary's. Throws if there is
  /// no such version.
  MANTA_DECL bool canary_has_turn(int version);
  /// Its router, while there is one.
  [[nodiscard]] const actor<router>& canary_router() const { return canary_->at; }
  MANTA_DECL void drain_canary() const;
  MANTA_DECL void check_canary() const;
  MANTA_DECL void keep_canary_away(int rank, bool in_any_case) const;
  MANTA_DECL void add_canary_to(status& s) const;

 private:
  struct canary {
    actor<router> at;
    weighted_turns turns;
    recipe how;
    settings given = {};
  };
  [[noreturn]] MANTA_DECL static void refuse_others();
  canary& present_canary();

  dispatcher& dispatcher_;
  replica_set& replicas_;
  rolling_update& updates_;
  recipe present_;
  std::optional<canary> canary_;
};

}  // namespace manta::serve::detail
