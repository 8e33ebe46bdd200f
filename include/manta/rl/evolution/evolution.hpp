// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that try random changes of a policy's parameters, each forwards and backwards for an episode, and move the
// parameters along a weighted sum of the changes. ES and ARS differ in the weights and in the step, and so does a class
// of the program's own, which says weigh().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/evolution/evolution_worker.hpp"
#include "manta/rl/learning/algorithm.hpp"

namespace manta::rl {

/// What these algorithms are told in common.
struct evolution_options {
  int workers = 1;
  std::uint64_t seed = 0;
  int pairs = 16;
  double deviation = 0.1;
  bool normalise_observations = true;
  model_options model = {};
  trained_policy begin_with = {};
};

namespace detail {

/// The policy that moves, with the rule by which it does.
class evolution_learner : public learner {
 public:
  MANTA_DECL evolution_learner(const any_environment& e, const evolution_options& o, evolution_rule rule);

  [[nodiscard]] acting_policy acting() const override { return {environment_, net_, filter_, {.distribution = own_}}; }
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override { return {net_.parameters()}; }
  [[nodiscard]] std::string description() const override { return net_.describe() + named(own_); }
  [[nodiscard]] MANTA_DECL std::string state() const override;
  MANTA_DECL void restore(const std::string& state) override;

  [[nodiscard]] const nn::network<float>& net() const { return net_; }
  [[nodiscard]] moments& filter() { return filter_; }
  /// with_rule: for workers that take the learner's steps.
  [[nodiscard]] MANTA_DECL evolution_policy policy_of(std::uint64_t iteration, bool with_rule) const;
  /// Takes the step, and returns the norm of what the optimiser got.
  double move(std::vector<float> sum) { return rule_.move(net_.parameters(), sum); }

 private:
  nn::network<float> net_;
  moments filter_;
  own_distribution own_;
  evolution_rule rule_;
};

}  // namespace detail

class evolution : public algorithm {
 public:
  MANTA_DECL ~evolution() override;

 protected:
  /// norm: the name of the norm of steps in reports.
  MANTA_DECL evolution(std::string name, const any_environment& e, const evolution_options& o, evolution_rule rule,
                       std::string norm);

  /// The weight of each change, from the returns of all episodes: forwards and backwards in turn.
  [[nodiscard]] virtual std::vector<float> weigh(const std::vector<double>& returns) const = 0;

  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return learner_; }
  [[nodiscard]] std::string state() override { return learner_.state(); }
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  void start_workers();
  /// Trials of all pairs, in their order.
  std::vector<detail::evolution_trials> try_changes();
  std::vector<double> count_trials(const std::vector<detail::evolution_trials>& parts);
  std::vector<float> sum_changes(const std::vector<float>& weights);
  /// The sum over all pairs is little work, which each worker can do for itself.
  [[nodiscard]] bool is_small() const;

  std::string norm_;
  evolution_options told_;
  detail::evolution_learner learner_;
  std::vector<actor<detail::evolution_worker>> workers_;
  std::unique_ptr<detail::evolution_update> update_;  ///< update to the policy of this iteration; null: there is none
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/evolution.ipp"
#endif
