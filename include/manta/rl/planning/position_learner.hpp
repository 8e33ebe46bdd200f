// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What learns from positions: one network for the prior of a search and for values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/rl/learning/learner.hpp"
#include "manta/rl/planning/positions.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

/// What it is told.
struct position_learner_options {
  std::uint64_t seed = 0;
  double rate = 1e-3;          ///< learning rate of Adam
  double weight_decay = 1e-4;  ///< added to gradients, times the parameter
  double clip_norm = 10;
  model_options model = {};
  trained_policy begin_with = {};
};

class position_learner : public learner {
 public:
  /// environment: that of the policy that acts without a search. name: of the algorithm, for messages.
  MANTA_DECL position_learner(const std::string& name, const any_environment& e, const position_learner_options& o);

  /// A step with a batch: the loss is the cross entropy of the policies, and the square of the difference of values.
  MANTA_DECL void learn(const positions& batch, std::map<std::string, double>& figures);

  [[nodiscard]] const nn::network<float>& network() const { return net_; }
  [[nodiscard]] MANTA_DECL acting_policy acting() const override;
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override { return {net_.parameters()}; }
  [[nodiscard]] std::string description() const override { return net_.describe(); }
  [[nodiscard]] MANTA_DECL std::string state() const override;
  MANTA_DECL void restore(const std::string& state) override;

 private:
  position_learner_options options_;
  nn::network<float> net_;
  nn::optimizer optimizer_;
  nn::matrix<float> by_outputs_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/position_learner.ipp"
#endif
