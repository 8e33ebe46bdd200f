// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Models of an environment, learnt from transitions: several networks, each of which reads an observation and an action
// and gives a Gaussian of the difference to the next observation and of the reward, and the probability that the
// episode terminates (Chua et al., 2018). Where they differ, little is known.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/rl/environments/space.hpp"
#include "manta/rl/models/source.hpp"
#include "manta/rl/policies/filter.hpp"
#include "manta/rl/policies/policy.hpp"
#include "manta/rl/workers/transitions.hpp"

namespace manta::rl {

struct ensemble_options {
  int models = 5;  ///< networks
  double rate = 1e-3;
  double weight_decay = 1e-5;
  model_options model = {};
  std::uint64_t seed = 0;
};

/// What one of the models expects of steps, a column each.
struct model_prediction {
  nn::matrix<float> next;
  std::vector<float> rewards;
  std::vector<float> ends;  ///< the probability that the episode terminates
};

class dynamics_ensemble {
 public:
  dynamics_ensemble() = default;
  /// actions: numbers of an action.
  MANTA_DECL dynamics_ensemble(const space& observations, int actions, const ensemble_options& o);

  [[nodiscard]] int models() const { return static_cast<int>(nets_.size()); }
  [[nodiscard]] int features() const { return features_; }
  [[nodiscard]] const std::vector<nn::network<float>>& networks() const { return nets_; }
  /// The parameters of all networks.
  [[nodiscard]] MANTA_DECL std::vector<std::span<const float>> parameters() const;
  /// "5 models 4 -> linear(64) ..".
  [[nodiscard]] MANTA_DECL std::string describe() const;

  /// A step of each model with its part of the transitions of one step each, actions in units of half the distance
  /// between the bounds, and with this part of the rate. Adds to the figures model_loss, and model_error, the root of
  /// the mean square of differences, where the deviation of what is predicted is 1. Throws manta::error if
  /// the loss is not finite.
  MANTA_DECL void learn(const transitions& batch, double part_of_rate, std::map<std::string, double>& figures);
  /// Predictions of one model. noise: normal numbers, features() of them for each column, or one column for all.
  MANTA_DECL void predict(int model, const nn::matrix<float>& observations, const nn::matrix<float>& actions,
                          const Eigen::Ref<const nn::matrix<float>>& noise, model_prediction& to);

  /// For what only predicts: networks and moments.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(features_, rate_, nets_, inputs_, targets_, low_, high_);
  }
  /// For checkpoints: the optimisers too.
  [[nodiscard]] MANTA_DECL std::string state() const;
  /// With the settings of the object's own optimisers. Changes nothing if it throws.
  MANTA_DECL void restore(const std::string& bytes);

 private:
  using array = Eigen::ArrayXXf;

  /// Observations, filtered, above actions.
  const nn::matrix<float>& joined(const nn::matrix<float>& observations, const nn::matrix<float>& actions);
  /// What the networks should give for transitions: differences and rewards.
  nn::matrix<float> targets_of(const transitions& batch);
  struct loss_of_models {
    double all = 0, squares = 0;
  };
  /// A step of one model with the columns from `first` on.
  void learn(std::size_t model, Eigen::Index first, Eigen::Index count, const transitions& batch,
             const nn::matrix<float>& targets, loss_of_models& sums);

  int features_ = 0;
  double rate_ = 0;
  std::vector<nn::network<float>> nets_;
  std::vector<nn::optimizer> optimizers_;
  moments inputs_, targets_;       ///< moments of observations; of differences and rewards
  std::vector<float> low_, high_;  ///< bounds of observations; empty without bounds
  nn::matrix<float> x_, filtered_, by_outputs_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/models/dynamics_ensemble.ipp"
#endif
