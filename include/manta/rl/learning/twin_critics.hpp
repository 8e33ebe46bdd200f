// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Two networks that value an action in a state, and slow copies of both. The lesser of two values is too high less
// often than one (Fujimoto et al., 2018). SAC and TD3 learn from them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/rl/learning/replay.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl::detail {

class twin_critics {
 public:
  MANTA_DECL twin_critics(const any_environment& e, const model_options& m, double rate, std::uint64_t seed);

  /// The lesser values that the slow copies give to columns; lives until the next call.
  MANTA_DECL const std::vector<float>& later(const nn::matrix<float>& observations, const nn::matrix<float>& actions);
  /// Actions that nobody has taken in the states of a batch: `each` of them for each column, one after the other.
  /// Their values are pushed below those of the actions that were taken (Kumar et al., 2020).
  struct other_actions {
    nn::matrix<float> actions;
    std::vector<float> log_densities;  ///< log densities by which they were drawn
    Eigen::Index each = 0;
    double alpha = 0;  ///< the weight of the difference in the loss
    double gap = 0;    ///< written: how far the values of these are above, a mean over the batch and both critics
  };
  /// One step of both towards what the values of a batch should have been, with this part of the rate. Writes the mean
  /// size of both errors for each transition; returns the loss. Throws manta::error if that is not finite.
  MANTA_DECL double learn(const replay::sample& s, const std::vector<float>& should_be, std::vector<float>& errors,
                          double rate_left, other_actions* others = nullptr);
  /// Values of columns: the lesser of both, or those of the first network; and the gradient of the sum by the actions.
  struct judgement {
    std::vector<float> values;
    nn::matrix<float> by_actions;
  };
  MANTA_DECL const judgement& judge(const nn::matrix<float>& observations, const nn::matrix<float>& actions, bool both);
  /// Moves the copies by this part of the difference.
  MANTA_DECL void follow(double part);

  /// The parameters of critic i, which is 0 or 1.
  [[nodiscard]] std::span<const float> parameters(std::size_t i) const { return critics_[i].net.parameters(); }
  [[nodiscard]] std::string describe() const { return critics_[0].net.describe(); }
  template <class Archive>
  void serialize(Archive& archive) {
    for (critic& c : critics_) archive(c.net, c.slow, c.optimizer);
  }
  /// Goes on from what was saved, with the settings of its own optimisers.
  MANTA_DECL void resume(const twin_critics& saved);

 private:
  struct critic {
    nn::network<float> net, slow;
    nn::optimizer optimizer;
  };
  const nn::matrix<float>& joined(const nn::matrix<float>& observations, const nn::matrix<float>& actions);
  /// Adds the gradients of the others' part of the loss. values: those of the actions that were taken.
  void push_down(critic& c, const nn::matrix<float>& observations, const std::vector<float>& values,
                 other_actions& others);

  std::array<critic, 2> critics_;
  std::vector<float> later_;
  judgement judged_;
  nn::matrix<float> x_, by_q_, other_, wide_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/learning/twin_critics.ipp"
#endif
