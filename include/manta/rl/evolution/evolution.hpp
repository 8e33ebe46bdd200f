// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that try random changes of a policy's parameters, each forwards and backwards for an episode, and move the
// parameters along a weighted sum of the changes. ES and ARS differ in the weights and in the step. A change is the
// numbers of a random stream, so that only its number and what it returned travel.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/algorithms/algorithm.hpp"
#include "manta/rl/evolution/evolution_trials.hpp"

namespace manta::rl::detail {

/// What these algorithms are told in common.
struct evolution_options {
  int workers = 1;
  std::uint64_t seed = 0;
  int pairs = 1;
  double deviation = 0.1;
  bool normalise_observations = true;
  model_options model = {};
};

class evolution : public algorithm {
 protected:
  /// norm: the name of the norm of steps in reports.
  MANTA_DECL evolution(std::string name, const any_environment& e, const evolution_options& o, evolution_rule rule,
                       std::string norm);

  MANTA_DECL void iterate(report& r) override;
  /// The weight of each change, from the returns of all episodes: forwards and backwards in turn.
  [[nodiscard]] virtual std::vector<float> weigh(const std::vector<double>& returns) const = 0;

  [[nodiscard]] best_policy best() const override { return {environment_, net_, filter_, told_.model.distribution}; }
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override { return {net_.parameters()}; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, bool own_settings) override;
  [[nodiscard]] std::string description() const override { return net_.describe() + named(told_.model.distribution); }

 private:
  void set_up();
  /// Trials of all pairs, in parts, in their order.
  std::vector<evolution_trials> try_changes();
  /// Starts a task for each part that is missing, and waits. is_last: one that is lost with its rank is an error.
  template <class Start>
  void try_left(std::vector<evolution_trials>& trials, bool is_last, Start&& start);
  std::vector<double> count_trials(const std::vector<evolution_trials>& parts);
  std::vector<float> sum_changes(const std::vector<float>& weights);
  /// The sum over all pairs is little work, which each rank can do for itself.
  [[nodiscard]] bool is_small() const;
  /// The tasks of an iteration.
  [[nodiscard]] int count_of_tasks() const;
  /// Are updates, one with each task, fewer bytes than policies, one to each rank?
  [[nodiscard]] bool sends_updates() const;
  const fetched_once<evolution_policy>& whole_policy();

  std::string name_, norm_;
  evolution_options told_;
  evolution_rule rule_;
  nn::network<float> net_;
  moments filter_;
  fetched_once<evolution_setting> setting_;
  std::shared_ptr<const evolution_setting> settled_;
  std::optional<fetched_once<evolution_policy>> whole_;  ///< of this iteration, once it is asked for
  std::optional<evolution_update> update_;               ///< to the policy of this iteration
  double trial_seconds_ = 0;                             ///< how long the trials of the last iteration took
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/evolution.ipp"
#endif
