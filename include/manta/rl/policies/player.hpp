// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A policy of the program's own that learns nothing here: a heuristic to compare with, or a network that
// was trained elsewhere.
//
//   struct lean : rl::player {
//     void act(std::span<const float> observation, rl::random&, std::span<float> action) override {
//       action[0] = observation[2] + observation[3] > 0;      // CartPole: towards the side to which the pole falls
//     }
//   };
//   const rl::report r = rl::evaluate("CartPole-v1", rl::own<lean>(), 100);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "manta/own.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/base/report.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/acting_policy.hpp"

namespace manta::rl {

/// Each episode has an object of its own.
class player {
 public:
  virtual ~player() = default;
  /// Writes the action as the environment takes it. observation: its features, as networks get them: the numbers of a
  /// box, one of n numbers set for a discrete space.
  virtual void act(std::span<const float> observation, random& numbers, std::span<float> action) = 0;
};

/// A class that derives from player, and is constructed from the spaces of observations and of actions and the
/// arguments of own, or from these alone.
using own_player = own_class<player, space, space>;

/// Plays episodes by tasks on any ranks, and waits. They are the ones that algorithm::evaluate plays, where the seeds
/// are equal. Throws manta::error with environment, episode and step for what an environment does wrong.
MANTA_DECL report evaluate(const any_environment& e, const own_player& p, int episodes, std::uint64_t seed = 0);

namespace detail {
/// Writes the actions of players, one for each of the environments whose episode goes on. Throws manta::error, with
/// environment, episode and step, for an action that is not in the space or that the mask forbids.
MANTA_DECL void act_by_players(const std::vector<std::unique_ptr<player>>& players, const own_player& kind,
                               const vector_environment& now, const acting_policy::draw& numbers,
                               nn::matrix<float>& actions);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/player.ipp"
#endif
