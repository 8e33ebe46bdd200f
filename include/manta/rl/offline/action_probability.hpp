// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How probable an action is under a policy: for recordings, which keep it, and for estimates, which compare it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "manta/rl/policies/acting_policy.hpp"

namespace manta::rl::detail {

/// Writes the action that a distribution keeps for one that the environment took: the inverse of its to_environment.
/// What a box has cut off at its bounds stays cut off.
MANTA_DECL void keep_action(const space& actions, const float* taken, float* kept);

class action_probability {
 public:
  /// explores: the policy draws its actions as in training; else it takes the best one.
  MANTA_DECL action_probability(const acting_policy& p, bool explores);

  /// Why there are no probabilities: the end of a sentence. Empty where there are.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  /// The logarithm of the probability, or of the density, of an action as the environment takes it. outputs: those of
  /// the policy's network, with what is not allowed forbidden (acting_policy::outputs).
  [[nodiscard]] MANTA_DECL double operator()(const float* outputs, mask_view allowed,
                                             std::span<const float> action) const;

 private:
  [[nodiscard]] double greedy(const float* outputs, mask_view allowed, std::span<const float> action) const;

  space actions_;
  action_choice choice_;
  bool explores_;
  std::shared_ptr<const distribution> distribution_;
  std::string obstacle_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/offline/action_probability.ipp"
#endif
