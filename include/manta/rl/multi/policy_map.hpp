// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which policy acts from which seat, episode by episode:
//
//   struct by_seat {
//     std::string operator()(int seat, std::uint64_t episode) const { return seat == 0 ? "walker" : "rival"; }
//   };
//   rl::multi training(game, {.policies = {..}, .map = rl::own<by_seat>()});
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "manta/own.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl {

/// A class of the program's own has the call operator, and may derive from this one. Workers call it on their ranks
/// when an episode begins, so it has to depend on seat, episode and its constructor's arguments alone.
class policy_map {
 public:
  virtual ~policy_map() = default;
  /// The name of the policy. episode: numbered from 0 over all environments of a training.
  virtual std::string operator()(int seat, std::uint64_t episode) const = 0;
};

/// A class that names policies, constructed from the arguments of own.
using own_policy_map = own_class<policy_map>;

namespace detail {

template <class C>
class policy_map_of final : public policy_map {
 public:
  template <class... Args>
    requires(requires(Args... a) { C{std::move(a)...}; })
  explicit policy_map_of(Args... arguments) : map_{std::move(arguments)...} {}
  std::string operator()(int seat, std::uint64_t episode) const override { return map_(seat, episode); }

 private:
  C map_;
};

}  // namespace detail

}  // namespace manta::rl

template <class C>
  requires(!std::is_base_of_v<manta::rl::policy_map, C>)
struct manta::detail::standing_for<manta::rl::policy_map, C> {
  static constexpr bool names_policies = requires(const C& c) { std::string(c(0, std::uint64_t(0))); };
  static_assert(names_policies,
                "manta: rl: a map of policies needs std::string operator()(int seat, std::uint64_t episode) const, "
                "which gives the name of a policy");
  using type = manta::rl::detail::policy_map_of<C>;
};
