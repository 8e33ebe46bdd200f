// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Seats that work together and learn values of what they do: QMIX (Rashid et al., 2018), VDN (Sunehag et al., 2018),
// and independent Q-learning. Each seat has a network that reads what it sees; in training their values are mixed to
// one of the joint action, for which the team is rewarded. Opt-in: include this header.
//
//   rl::qmix algorithm(rl::environment<two_step>(), {.workers = 4, .seed = 1});   // or rl::vdn
//   while (algorithm.train().mean_return < 7.9) {}
//   algorithm.trained("first").save("first.policy");                             // acts by what its seat sees
#pragma once

#include <map>
#include <string>
#include <vector>

#include "manta/nn/optimizer.hpp"
#include "manta/rl/algorithms/off_policy.hpp"
#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/games.hpp"
#include "manta/rl/multi/q_mixer.hpp"
#include "manta/rl/seats/joint.hpp"

namespace manta::rl {

struct qmix_options {
  int workers = 1;  ///< actors that act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 8;        ///< games of all workers together
  int fragment = 32;           ///< steps of each game between two visits to the learner
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all games: nn::cosine(500'000)
  double discount = 0.99;
  int batch = 64;              ///< transitions of a step of the learner
  int steps_per_update = 2;    ///< steps of games between two visits to the memory
  int updates = 1;             ///< steps of the learner in each of them
  int n_step = 1;              ///< rewards that are summed before the value
  int learning_starts = 1000;  ///< steps before the first update
  double follow = 0.005;       ///< the part of the difference by which the slow networks move in each update
  int replay_size = 50'000;
  int replay_rank = -1;            ///< the rank that keeps the replay in its memory; -1: the learner's
  double replay_alpha = 0;         ///< how much priorities count; 0: uniform replay
  double replay_beta = 0.4;        ///< exponent of the weights against their bias; rises to 1 with exploration's end
  double epsilon = 0.05;           ///< the part of random actions of each seat, at the end
  int exploration_steps = 10'000;  ///< steps in which it falls from 1
  bool dual = true;                ///< double estimates
  double clip_norm = 10;
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the running deviation of the discounted return
  rl::mixing mixing = rl::mixing::monotone;
  int mixing_units = 32;   ///< units of the network that mixes
  int mixing_hidden = 64;  ///< units of the network that gives its weights from the state of the whole
  /// All seats, which have to be alike, act by one network: what they see has to say who they are, where that counts.
  bool shared = false;
  model_options model = {.hidden = {64, 64}};  ///< the network of a seat
  own_exploration exploration = {};            ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};              ///< changes transitions before they are kept: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the joint policy of a qmix to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_replay_options(archive, *this);
    archive(CEREAL_NVP(replay_alpha), CEREAL_NVP(replay_beta), CEREAL_NVP(epsilon), CEREAL_NVP(exploration_steps),
            CEREAL_NVP(dual), CEREAL_NVP(clip_norm), CEREAL_NVP(mixing), CEREAL_NVP(mixing_units),
            CEREAL_NVP(mixing_hidden), CEREAL_NVP(shared));
  }
};

namespace detail {

/// The rule of qmix, in the environment of all seats (joint.hpp).
class qmix_learner final : public off_policy_learner {
 public:
  MANTA_DECL qmix_learner(const any_environment& joint, const qmix_options& o);

  [[nodiscard]] const nn::network<float>& network() const override { return now_.net; }
  [[nodiscard]] MANTA_DECL double randomness() const override;
  [[nodiscard]] MANTA_DECL double importance() const override;
  MANTA_DECL void update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                         std::map<std::string, double>& figures) override;
  [[nodiscard]] acting_policy acting() const override { return acting_by(slow_.net); }
  /// The policy of a seat alone.
  [[nodiscard]] MANTA_DECL acting_policy acting_from(int seat) const;
  [[nodiscard]] const any_game& game() const { return game_; }
  [[nodiscard]] std::vector<std::span<const float>> parameters() const override {
    return {now_.net.parameters(), now_.mixer.net().parameters()};
  }
  [[nodiscard]] MANTA_DECL std::string description() const override;
  [[nodiscard]] MANTA_DECL std::string networks() const override;
  MANTA_DECL void restore_networks(const std::string& bytes) override;

 private:
  struct networks_of_values {
    nn::network<float> net;  ///< the networks of all seats beside each other
    q_mixer mixer;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(net, mixer);
    }
  };
  void check(const qmix_options& o) const;
  void make_networks();
  [[nodiscard]] bool mixes() const { return options_.mixing != mixing::none; }
  /// The numbers that the mixer reads: who acts and what the game tells of the whole, or else the whole observation.
  [[nodiscard]] int state_size() const { return layout_.whole > 0 ? layout_.seats() + layout_.whole : layout_.size(); }
  [[nodiscard]] nn::matrix<float> state_of(const nn::matrix<float>& observations) const {
    return observations.bottomRows(state_size());
  }
  /// Writes the choice of each seat that has the largest output.
  void read_best(const nn::matrix<float>& outputs, nn::matrix<float>& choices) const;
  /// Writes the outputs of the choices, and 0 for seats that wait.
  void read_values(const nn::matrix<float>& outputs, const nn::matrix<float>& choices, nn::matrix<float>& to) const;
  /// Calls f(seat, sample, row of its output, whether it waits).
  template <class F>
  void each_choice(const nn::matrix<float>& choices, F&& f) const;
  /// What the values of the joint actions should have been, or those of each seat where nothing is mixed.
  [[nodiscard]] nn::matrix<float> wanted(const replay::sample& s);
  /// Writes the errors, and the gradient by the values.
  void learn_errors(const replay::sample& s, const nn::matrix<float>& values, const nn::matrix<float>& should_be,
                    std::vector<float>& errors, std::map<std::string, double>& figures);
  /// Throws manta::error if a seat waits, where nothing is mixed.
  void require_all_act(const nn::matrix<float>& choices) const;
  void take_steps();
  void note_masks(const action_masks& next);
  /// The seats' gradients are those of one network.
  void share_gradients();

  qmix_options options_;
  any_game game_;
  joint_layout layout_;
  std::vector<nn::network<float>> of_seats_;  ///< networks of seats, whose parameters stand in those of all
  networks_of_values now_, slow_;             ///< slow_: a mean of now_'s last parameters; targets are made of it
  nn::optimizer optimizer_, mixer_optimizer_;
  std::vector<char> masked_;  ///< whether a choice was ever forbidden to each seat
  nn::matrix<float> allowed_, best_, values_, by_values_, by_outputs_;
};

}  // namespace detail

/// Reports have the mean over the seats of their rewards; `loss`, `q`, the mean value of joint actions, and `epsilon`.
/// evaluate(), act() and trained() are of the joint policy, in the environment that rl::joint(game) gives.
class qmix : public off_policy {
 public:
  using options = qmix_options;

  /// Throws manta::error if the actions of a seat are not discrete, or the options make no sense.
  MANTA_DECL explicit qmix(const any_game& g, const qmix_options& o = {});
  /// In an environment that joint() has made.
  MANTA_DECL explicit qmix(const any_environment& joint, const qmix_options& o = {});
  MANTA_DECL explicit qmix(const char* game, const qmix_options& o = {});
  explicit qmix(const std::string& game, const qmix_options& o = {}) : qmix(game.c_str(), o) {}

  using algorithm::trained;
  /// The policy of a seat at this moment, as a value: to act, for rl::play() and rl::frozen(), to be saved and served.
  [[nodiscard]] MANTA_DECL trained_policy trained(const std::string& seat) const;
  [[nodiscard]] MANTA_DECL const any_game& game() const;
};

/// qmix with a sum of values.
class vdn final : public qmix {
 public:
  MANTA_DECL explicit vdn(const any_game& g, const qmix_options& o = {});
  MANTA_DECL explicit vdn(const any_environment& joint, const qmix_options& o = {});
  MANTA_DECL explicit vdn(const char* game, const qmix_options& o = {});
  explicit vdn(const std::string& game, const qmix_options& o = {}) : vdn(game.c_str(), o) {}
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/qmix.ipp"
#endif
