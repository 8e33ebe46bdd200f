// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "manta/rl/offline/action_probability.hpp"
#include "manta/rl/policies/box_scale.hpp"

namespace manta::rl::detail {

MANTA_DECL void keep_action(const space& actions, const float* taken, float* kept) {
  if (const std::vector<int> starts = starts_of(actions); !starts.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) kept[i] = taken[i] - static_cast<float>(starts[i]);
  } else if (const box* const b = actions.as_box()) {
    box_scale(*b).from_environment(taken, kept);
  } else {
    for (const space* part : actions.parts()) {
      keep_action(*part, taken, kept);
      taken += part->size();
      kept += part->size();
    }
  }
}

MANTA_DECL action_probability::action_probability(const acting_policy& p, bool explores)
    : actions_(p.environment().actions()),
      choice_(p.choice()),
      explores_(explores && p.choice().by != action_choice::drawing::none),
      distribution_(make_distribution(p.environment().actions(), p.choice().distribution)) {
  const bool are_choices = !choices_of(actions_).empty();
  if (choice_.distribution) {
    obstacle_ = "its distribution " + choice_.distribution.name() + " is a class of the program's own";
  } else if (!explores_ && !are_choices) {
    obstacle_ = "its actions are numbers, of which it always takes the best; let it draw them, {.explore = true}";
  } else if (explores_ && choice_.by == action_choice::drawing::exploration &&
             (choice_.exploration.own || choice_.exploration.how != exploration_options::way::epsilon_greedy)) {
    obstacle_ = "its actions are drawn by an exploration whose noise goes on from step to step";
  }
}

/// The best action, but for a part of the time any that is allowed: dqn.
inline double action_probability::greedy(const float* outputs, mask_view allowed, std::span<const float> action) const {
  const int n = choices_of(actions_).front();
  const auto choices =
      static_cast<double>(allowed.empty() ? n : std::ranges::count_if(allowed, [](auto a) { return a; }));
  std::vector<float> best(action.size());
  distribution_->best_for_environment(outputs, best.data());
  const double by_chance = choice_.randomness / choices;
  return std::log(best.front() == action.front() ? 1 - choice_.randomness + by_chance : by_chance);
}

MANTA_DECL double action_probability::operator()(const float* outputs, mask_view allowed,
                                                 std::span<const float> action) const {
  if (explores_ && choice_.by == action_choice::drawing::exploration) return greedy(outputs, allowed, action);
  if (!explores_) {
    std::vector<float> best(action.size());
    distribution_->best_for_environment(outputs, best.data());
    return std::ranges::equal(best, action) ? 0 : -std::numeric_limits<double>::infinity();
  }
  std::vector<float> kept(action.size());
  keep_action(actions_, action.data(), kept.data());
  return static_cast<double>(distribution_->log_probability(outputs, choice_.spread.data(), kept.data()));
}

}  // namespace manta::rl::detail
