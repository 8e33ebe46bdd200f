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
#include "manta/rl/algorithms/option_fields.hpp"

namespace manta::rl {

struct dqn_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 8;        ///< environments of all workers together
  int fragment = 32;           ///< steps of each environment between two visits to the learner
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  int batch = 64;              ///< transitions of a step of the learner
  int steps_per_update = 2;    ///< steps of environments between two visits to the memory
  int updates = 1;             ///< steps of the learner in each of them
  int n_step = 3;              ///< rewards that are summed before the value
  int learning_starts = 1000;  ///< steps before the first update
  double follow = 0.005;       ///< the part of the difference by which the slow network moves in each update
  int copy_every = 0;          ///< instead: updates between two copies into the slow network; 0: it follows
  int replay_size = 50'000;
  int replay_rank = -1;            ///< the rank that keeps the replay in its memory; -1: the learner's
  double replay_alpha = 0.6;       ///< how much priorities count; 0: uniform replay
  double replay_beta = 0.4;        ///< exponent of the weights against their bias; rises to 1 with exploration's end
  double epsilon = 0.05;           ///< the part of random actions, at the end
  int exploration_steps = 10'000;  ///< steps in which it falls from 1
  bool dual = true;                ///< double estimates
  bool dueling = true;
  double clip_norm = 10;
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the running deviation of the discounted return
  model_options model = {.hidden = {128, 128}};
  own_exploration exploration = {};  ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};    ///< changes transitions before they are kept: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy of a dqn to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_replay_options(archive, *this);
    archive(CEREAL_NVP(replay_alpha), CEREAL_NVP(replay_beta), CEREAL_NVP(epsilon), CEREAL_NVP(exploration_steps),
            CEREAL_NVP(copy_every), CEREAL_NVP(dual), CEREAL_NVP(dueling), CEREAL_NVP(clip_norm));
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

/// DQN's rule.
class dqn_learner : public off_policy_learner {
 public:
  /// name: of the algorithm. Throws manta::error if the environment's actions are not discrete.
  MANTA_DECL dqn_learner(const any_environment& e, const dqn_options& o, const std::string& name = "dqn");

  [[nodiscard]] const q_network& values() const { return q_; }
  [[nodiscard]] const nn::network<float>& network() const override { return q_.net(); }
  [[nodiscard]] MANTA_DECL double randomness() const override;
  [[nodiscard]] MANTA_DECL double importance() const override;
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  /// The network's outputs for actions have the order of the Q values, which the value of the state does not change.
  [[nodiscard]] acting_policy acting() const override { return acting_by(slow_.net()); }
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override { return {q_.net().parameters()}; }
  [[nodiscard]] MANTA_DECL std::string networks() const override;
  MANTA_DECL void restore_networks(const std::string& bytes) override;

 private:
  /// What the values of the actions should have been.
  std::vector<float> wanted(const replay::sample& s);

  dqn_options options_;
  q_network q_;
  /// A mean of its last parameters: targets are made of it, and it acts in evaluations, for single updates move the
  /// network by more than the values of good actions differ.
  q_network slow_;
  nn::optimizer optimizer_;
  nn::matrix<float> allowed_, by_q_;
};

}  // namespace detail

class dqn final : public off_policy {
 public:
  using options = dqn_options;

  /// Throws manta::error if the environment's actions are not discrete.
  MANTA_DECL explicit dqn(const any_environment& e, const dqn_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/dqn.ipp"
#endif
