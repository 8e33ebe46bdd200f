// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Transitions that models dream (Janner et al., 2019, as MBPO): short lines of steps by the present policy from states
// that have really been seen. sac learns from them where it is asked to.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/models/dream_options.hpp"
#include "manta/rl/models/dynamics_ensemble.hpp"

namespace manta::rl::detail {

class dreams {
 public:
  /// Throws manta::error if the options make no sense.
  MANTA_DECL dreams(const any_environment& e, const dream_options& o, double discount, std::uint64_t seed);

  /// The models learn from a batch whose observations are filtered.
  void learn(const transitions& real, double part_of_rate, std::map<std::string, double>& figures) {
    models_.learn(real, part_of_rate, figures);
  }
  /// Actions for columns of observations.
  using act = std::function<const nn::matrix<float>&(const nn::matrix<float>& observations)>;
  /// Dream number k since the last visit to the memory, as a batch: goes on with the dream before, or begins with the
  /// states of a real batch. Of a line that has ended, the real state takes the place.
  MANTA_DECL const replay::sample& dream(int k, const replay::sample& real, const act& policy, random& numbers);

  [[nodiscard]] const dynamics_ensemble& models() const { return models_; }
  [[nodiscard]] std::string state() const { return models_.state(); }
  void restore(const std::string& bytes) { models_.restore(bytes); }

 private:
  dream_options options_;
  double discount_;
  dynamics_ensemble models_;
  replay::sample made_;
  model_prediction step_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/models/dreams.ipp"
#endif
