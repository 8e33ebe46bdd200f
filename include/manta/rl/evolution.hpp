// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that try random changes of a policy's parameters, each forwards and backwards for an episode, and move the
// parameters along a weighted sum of the changes. ES and ARS differ in the weights and in the step. A change is the
// numbers of a random stream, so that only its number and what it returned travel.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/algorithm.hpp"
#include "manta/rl/fetched_once.hpp"

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

/// What tasks need and does not change: sent once to each rank.
struct evolution_setting {
  std::string algorithm;  ///< for messages
  any_environment environment;
  nn::network<float> net;  ///< of which the layers count
  own_distribution own;    ///< of which the best actions count
  double deviation = 0;
  std::uint64_t seed = 0;
  int moments_every = 1;  ///< how many pairs share one that gives moments of its observations

  template <class Archive>
  void serialize(Archive& archive) {
    archive(algorithm, environment, net, own, deviation, seed, moments_every);
  }
};

/// The policy of an iteration: likewise.
struct evolution_policy {
  fetched_once<evolution_setting> setting;
  std::vector<float> parameters;
  moments filter;
  std::uint64_t iteration = 0;
  std::shared_ptr<const evolution_setting> settled = {};  ///< the setting on this rank

  /// Gets the setting and lets go of its handle.
  void settle() {
    settled = setting.get();
    setting = {};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(setting, parameters, filter, iteration);
  }
};

class evolution : public algorithm {
 protected:
  MANTA_DECL evolution(std::string name, const any_environment& e, const evolution_options& o);

  MANTA_DECL void iterate(report& r) override;
  /// The weight of each change, from the returns of all episodes: forwards and backwards in turn.
  [[nodiscard]] virtual std::vector<float> weigh(const std::vector<double>& returns) const = 0;
  /// Moves the parameters. sum: of the changes times their weights.
  virtual void move(std::vector<float>& sum, std::map<std::string, double>& figures) = 0;

  [[nodiscard]] best_policy best() const override { return {environment_, net_, filter_, told_.model.distribution}; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, bool own_settings) override;
  [[nodiscard]] std::string description() const override { return net_.describe() + named(told_.model.distribution); }
  /// Optimisers.
  [[nodiscard]] virtual std::string optimiser_state() const { return {}; }
  virtual void restore_optimiser(const std::string&, bool /* own_settings */) {}

  std::span<float> parameters() { return net_.parameters(); }

 private:
  void set_up();
  std::vector<double> try_changes(const fetched_once<evolution_policy>& policy);
  std::vector<float> sum_changes(const fetched_once<evolution_policy>& policy, const std::vector<float>& weights) const;

  std::string name_;
  evolution_options told_;
  nn::network<float> net_;
  moments filter_;
  fetched_once<evolution_setting> setting_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/evolution.ipp"
#endif
