// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What acts by looking ahead, where others ask a network. pets has one, on the models that it has learnt.
#pragma once

#include <memory>
#include <span>

#include "manta/own.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// What it remembers of an episode is with the caller, so one object plans for any number of episodes.
class action_planner {
 public:
  virtual ~action_planner() = default;
  /// The numbers that it remembers of an episode from step to step.
  [[nodiscard]] virtual int memory_size() const = 0;
  /// Writes the action, in units of half the distance between the bounds, for the features of an observation, which are
  /// unfiltered. memory: what the step before has left; zeros where an episode begins. Equal observations and memories
  /// give equal actions.
  virtual void act(std::span<const float> observation, std::span<float> memory, std::span<float> action) = 0;
};

/// A planner as a value, which is constructed from the space of actions and the arguments of own, or from these alone.
using own_action_planner = own_class<action_planner, space>;

namespace detail {
/// A planner at work, which a copy of its owner makes anew.
struct kept_action_planner {
  std::unique_ptr<action_planner> object;
  kept_action_planner() = default;
  kept_action_planner(const kept_action_planner&) {}
  kept_action_planner& operator=(const kept_action_planner&) {
    object.reset();
    return *this;
  }
  kept_action_planner(kept_action_planner&&) = default;
  kept_action_planner& operator=(kept_action_planner&&) = default;
  ~kept_action_planner() = default;
};
}  // namespace detail

}  // namespace manta::rl
