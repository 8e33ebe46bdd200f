// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A checker for distributions of actions of one's own. It draws actions for a few outputs of a network and says
// what is wrong:
//
//   rl::check_distribution<careful>(rl::discrete{2}, 0.02f);  // with the constructor's arguments after the space
//
// It looks for probabilities that do not add up to 1, samples that do not follow them, an entropy that is not theirs,
// gradients that differ from central differences or are not added, a best action that is not the most likely choice,
// actions outside of the space, numbers that are not finite, and randomness that does not come from sample(random).
// Each number of an action is looked at by itself, so a wrong dependence between two of them is not found.
#pragma once

#include <string>
#include <vector>

#include "manta/rl/policies/distribution.hpp"

namespace manta::rl {

/// The mistakes of a distribution of these actions, a sentence each; empty if none was found. Without a class of the
/// program's own, those of the library's distribution.
MANTA_DECL std::vector<std::string> find_distribution_mistakes(const space& actions, const own_distribution& d);

/// Throws manta::error with the mistakes, if there are any.
MANTA_DECL void check_distribution(const space& actions, const own_distribution& d);

/// The distribution own<D>(args...).
template <class D, class... Args>
void check_distribution(const space& actions, const Args&... args) {
  check_distribution(actions, own_distribution(own<D>(args...)));
}

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/check_distribution.ipp"
#endif
