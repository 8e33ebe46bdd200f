// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Wrappers: environments made from another one.
//
//   rl::ppo algorithm(rl::frame_stack(rl::sticky_actions("MinAtar/Breakout-v1", 0.25), 4));
//
// Each gives a value of the same kind, which can be sent, saved, wrapped again and passed to every algorithm.
// Elsewhere: a limit of steps is any_environment::with_time_limit; returns and lengths of episodes are in
// vector_environment::take_episodes and in reports; observations and rewards are normalised by the algorithms, over all
// their workers together (filter.hpp).
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// The last n observations, joined, the oldest first. Of an image, they are n times as many channels. At the beginning
/// of an episode the first observation stands n times. Throws manta::error if observations are no box.
MANTA_DECL any_environment frame_stack(const any_environment& e, int n);

/// With this probability the former action is repeated instead (Machado et al., 2018), where it is still allowed. An
/// episode's first action counts.
MANTA_DECL any_environment sticky_actions(const any_environment& e, double probability);

/// Rewards are brought between low and high.
MANTA_DECL any_environment clip_rewards(const any_environment& e, double low = -1, double high = 1);

/// Rewards are multiplied.
MANTA_DECL any_environment scale_rewards(const any_environment& e, double factor);

/// Observations are brought between low and high, number by number. Throws manta::error if they are no box.
MANTA_DECL any_environment clip_observations(const any_environment& e, float low, float high);

/// An observation that is a choice, or several, becomes a box: for each choice as many numbers as
/// there are, one of them 1.
MANTA_DECL any_environment one_hot(const any_environment& e);

/// Actions are brought between -1 and 1: -1 stands for the lower bound of the inner environment, 1 for the upper one.
/// Throws manta::error if they are no box with finite bounds.
MANTA_DECL any_environment rescale_actions(const any_environment& e);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/environments/wrappers.ipp"
#endif
