// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Conservative Q-learning (Kumar et al., 2020): soft actor-critic from recorded episodes, whose critics value actions
// that the data lacks below those that it has, so that the policy is not led to what nobody has tried. For actions that
// are numbers between bounds.
//
//   rl::cql careful(data, {.seed = 1, .alpha = 1});
//   for (int i = 0; i < 20; ++i) std::cout << careful.train() << '\n';
//   std::cout << rl::evaluate("Pendulum-v1", careful.trained(), 100) << '\n';
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/rl/algorithms/sac.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/learning/replay.hpp"
#include "manta/rl/offline/episodes.hpp"

namespace manta::rl {

struct cql_options {
  std::uint64_t seed = 0;
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each transition that was learnt from
  double discount = 0.99;
  /// The weight of the values of other actions in the loss; 0: sac. The larger it is against rewards, the nearer the
  /// policy stays to the data.
  double alpha = 1;
  int samples = 4;         ///< other actions of each kind for a state: uniform, the policy's, its next ones
  int batch = 128;         ///< transitions of a step of the learner
  int updates = 500;       ///< steps of the learner in an iteration
  double follow = 0.005;   ///< the part of the difference by which the slow critics move in each update
  double temperature = 1;  ///< temperature of the entropy, at the beginning
  bool learn_temperature = true;
  double target_entropy = 0;           ///< 0: minus the number of numbers of an action
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by those of the data
  bool normalise_rewards = false;      ///< divided by the deviation of the discounted returns in the data
  model_options model = {};
  trained_policy begin_with = {};  ///< the policy of a sac or cql to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(seed), CEREAL_NVP(rate), CEREAL_NVP(discount), CEREAL_NVP(alpha), CEREAL_NVP(samples),
            CEREAL_NVP(batch), CEREAL_NVP(updates), CEREAL_NVP(follow), CEREAL_NVP(temperature),
            CEREAL_NVP(learn_temperature), CEREAL_NVP(target_entropy), CEREAL_NVP(normalise_observations),
            CEREAL_NVP(normalise_rewards), CEREAL_NVP(model));
  }
};

namespace detail {

/// SAC's rule with other actions.
class cql_learner final : public sac_learner {
 public:
  MANTA_DECL cql_learner(const any_environment& e, const sac_options& o, double alpha, int samples);
  /// The lesser of the critics' values of actions, in units of the rewards as they are learnt from.
  [[nodiscard]] MANTA_DECL double value(const std::vector<float>& observation, const std::vector<float>& action);
  /// Written by the last update.
  [[nodiscard]] double gap() const { return others_.gap; }

 protected:
  MANTA_DECL twin_critics::other_actions* others(const replay::sample& s, random& numbers) override;

 private:
  int samples_;
  twin_critics::other_actions others_;
  nn::matrix<float> repeated_;
};

}  // namespace detail

class cql final : public algorithm {
 public:
  using options = cql_options;
  /// Throws manta::error if the actions are not numbers between finite bounds, if the options make no sense, or if
  /// there are no episodes.
  MANTA_DECL explicit cql(const episodes& data, const cql_options& o = {});
  MANTA_DECL ~cql() override;

  /// What the critics say that an action is worth in a state: both as the environment has them.
  [[nodiscard]] MANTA_DECL double value(const std::vector<float>& observation, const std::vector<float>& action) const;

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return *learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  void read(const episodes& data);

  cql_options options_;
  std::unique_ptr<detail::cql_learner> learner_;
  replay memory_;  ///< all transitions of the data
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/cql.ipp"
#endif
