// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A reward that the program knows, in place of one that a model learns:
//
//   struct cost : rl::model_reward {
//     double operator()(std::span<const float> o, std::span<const float> a, std::span<const float>) const override {
//       return -std::abs(o[0]) - 0.1 * std::abs(a[0]);
//     }
//   };
//   rl::pets algorithm(rl::environment<cart>(), {.reward = rl::own<cost>()});
#pragma once

#include <optional>
#include <span>

#include "manta/own.hpp"

namespace manta::rl {

/// Objects are used on any ranks, and have no state.
class model_reward {
 public:
  virtual ~model_reward() = default;
  /// The reward of a step. Observations are features, as networks get them, unfiltered; the action is as the
  /// environment takes it.
  [[nodiscard]] virtual double operator()(std::span<const float> observation, std::span<const float> action,
                                          std::span<const float> next) const = 0;
  /// Whether the episode terminates with the step. Nothing: models learn that too.
  [[nodiscard]] virtual std::optional<bool> ends(std::span<const float> /* observation */,
                                                 std::span<const float> /* action */,
                                                 std::span<const float> /* next */) const {
    return {};
  }
};

/// A class of the program's own that derives from model_reward: rl::own<my_reward>(constructor arguments..).
using own_model_reward = own_class<model_reward>;

}  // namespace manta::rl
