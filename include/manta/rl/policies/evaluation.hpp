// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evaluations: a policy acts in episodes of its own. They are divided into parts whose number depends on that of the
// episodes alone, and each part is a task, so that any number of ranks comes to the same result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manta/future.hpp"
#include "manta/rl/base/report.hpp"
#include "manta/rl/policies/acting_policy.hpp"

namespace manta::rl {

/// How a policy is evaluated.
struct evaluate_options {
  bool explore = false;  ///< actions are drawn as in training; else the best ones are taken
  /// Which episodes are played; none: those of the training's seed. Whoever chooses the best of many policies by some
  /// episodes reports it by others.
  std::optional<std::uint64_t> seed = {};
  any_environment environment = {};  ///< where; none: where the policy was trained, with the wrappers of the training
};

namespace detail {

/// What an evaluation plays.
struct evaluation {
  any_environment environment;
  std::uint64_t seed = 0;
  bool explores = false;
  int columns = 32;  ///< episodes of a part: those of one forward pass, of which a smaller one is no faster
  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment, seed, explores, columns);
  }
};
/// Throws manta::error if the policy cannot play in the environment of the options.
MANTA_DECL evaluation evaluation_of(const acting_policy& p, const evaluate_options& o, std::uint64_t seed);

/// Runs these episodes by tasks, on seeds that training does not use. The report counts their steps; its seconds are
/// those of all ranks together.
MANTA_DECL future<report> start_evaluation(const future<acting_policy>& policy, const evaluation& how, int episodes,
                                           std::uint64_t iteration);

/// The first of these episodes as texts, one for each state; none where the environment has no text().
MANTA_DECL std::vector<std::string> draw_episode(acting_policy policy, const evaluation& how, int longest);

/// Returns and lengths of episodes.
MANTA_DECL void summarise(const std::vector<episode>& episodes, report& r);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/evaluation.ipp"
#endif
