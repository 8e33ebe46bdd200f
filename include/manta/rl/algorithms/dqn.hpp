// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deep Q-learning (Mnih et al., 2015), with double estimates (van Hasselt et al., 2016), a dueling network (Wang et
// al., 2016), prioritised replay (Schaul et al., 2016) and returns over several steps. For discrete actions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/rl/algorithms/off_policy.hpp"

namespace manta::rl {

struct dqn_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 8;  ///< of all workers together
  int fragment = 32;     ///< steps of each environment between two visits to the learner
  double rate = 1e-3;    ///< of Adam
  double discount = 0.99;
  int batch = 64;              ///< transitions of a step of the learner
  int steps_per_update = 2;    ///< steps of environments for each step of the learner
  int n_step = 3;              ///< rewards that are summed before the value
  int learning_starts = 1000;  ///< steps before the first update
  double follow = 0.005;       ///< the part of the difference by which the slow network moves in each update
  int replay_size = 50'000;
  int replay_rank = -1;            ///< the rank that keeps the replay in its memory; -1: the learner's
  double replay_alpha = 0.6;       ///< how much priorities count; 0: uniform replay
  double replay_beta = 0.4;        ///< of the weights against their bias; rises to 1 with exploration's end
  double epsilon = 0.05;           ///< the part of random actions, at the end
  int exploration_steps = 10'000;  ///< in which it falls from 1
  bool dual = true;                ///< double estimates
  bool dueling = true;
  double clip_norm = 10;
  bool normalise_observations = true;  ///< to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< by the running deviation of the discounted return
  model_options model = {.hidden = {128, 128}};
  own_exploration exploration = {};  ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};    ///< what is done with transitions before they are kept

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(environments), CEREAL_NVP(fragment), CEREAL_NVP(rate),
            CEREAL_NVP(discount), CEREAL_NVP(batch), CEREAL_NVP(steps_per_update), CEREAL_NVP(n_step),
            CEREAL_NVP(learning_starts), CEREAL_NVP(follow), CEREAL_NVP(replay_size), CEREAL_NVP(replay_rank),
            CEREAL_NVP(replay_alpha), CEREAL_NVP(replay_beta), CEREAL_NVP(epsilon), CEREAL_NVP(exploration_steps),
            CEREAL_NVP(dual), CEREAL_NVP(dueling), CEREAL_NVP(clip_norm), CEREAL_NVP(normalise_observations),
            CEREAL_NVP(normalise_rewards), CEREAL_NVP(model));
  }
};

namespace detail {

/// Q values of all actions: a network with, for a dueling one, one output more, the value of the state.
class q_network {
 public:
  q_network() = default;
  MANTA_DECL q_network(const space& observations, int actions, const model_options& m, bool dueling,
                       std::uint64_t seed);
  /// actions x samples.
  MANTA_DECL const nn::matrix<float>& forward(const nn::matrix<float>& x);
  MANTA_DECL void backward(const nn::matrix<float>& by_q);
  nn::network<float>& net() { return net_; }
  [[nodiscard]] const nn::network<float>& net() const { return net_; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(net_, dueling_);
  }

 private:
  nn::network<float> net_;
  bool dueling_ = false;
  nn::matrix<float> q_, by_outputs_;
};
}  // namespace detail

class dqn final : public detail::off_policy {
 public:
  using options = dqn_options;

  /// Throws manta::error if the environment's actions are not discrete.
  MANTA_DECL explicit dqn(const any_environment& e, const dqn_options& o = {});

 protected:
  [[nodiscard]] const nn::network<float>& acting() const override { return q_.net(); }
  [[nodiscard]] MANTA_DECL double randomness() const override;
  [[nodiscard]] MANTA_DECL double importance() const override;
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  /// The network's outputs for actions have the order of the Q values, which the value of the state does not change.
  [[nodiscard]] detail::best_policy best() const override { return {environment_, slow_.net(), filter()}; }
  [[nodiscard]] MANTA_DECL std::vector<std::span<const float>> parameters() const override;
  [[nodiscard]] MANTA_DECL std::string learner_state() const override;
  MANTA_DECL void restore_learner(const std::string& bytes, bool own_settings) override;
  [[nodiscard]] std::string description() const override { return q_.net().describe() + own_parts(); }

 private:
  /// The part of the time of exploration that has passed.
  [[nodiscard]] double progress() const;
  /// What the values of the actions should have been.
  std::vector<float> wanted(const replay::sample& s);

  dqn_options options_;
  detail::q_network q_;
  /// A mean of its last parameters: targets are made of it, and it acts in evaluations, for single updates move the
  /// network by more than the values of good actions differ.
  detail::q_network slow_;
  nn::optimizer optimizer_;
  nn::matrix<float> allowed_, by_q_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/dqn.ipp"
#endif
