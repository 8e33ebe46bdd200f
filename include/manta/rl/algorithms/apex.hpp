// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ape-X (Horgan et al., 2018): DQN whose workers act all the time, each environment with its own part of random
// actions. Workers send their transitions, with the errors that they make of them, straight to one of several replay
// memories, which lie on several ranks, and the learner draws from these in turn. The learner takes as many steps as
// the steps of environments ask for, as dqn does, and workers act meanwhile. The result depends on who comes first.
//
//   rl::apex algorithm("CartPole-v1", {.workers = 8, .replays = 4});
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/algorithms/dqn.hpp"

namespace manta::rl {

struct apex_options {
  int workers = 2;  ///< actors that act, on any ranks
  int replays = 2;  ///< replay memories, on several ranks
  std::uint64_t seed = 0;
  int environments = 16;       ///< environments of all workers together
  int fragment = 16;           ///< steps of each environment that a worker sends together
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  int batch = 64;              ///< transitions of a step of the learner
  int steps_per_update = 2;    ///< steps of environments for each of these:
  int updates = 1;             ///< steps of the learner
  int n_step = 3;              ///< rewards that are summed before the value
  int learning_starts = 1000;  ///< steps before the first update
  double follow = 0.005;       ///< the part of the difference by which the slow network moves in each update
  int copy_every = 0;          ///< instead: updates between two copies into the slow network; 0: it follows
  int replay_size = 100'000;   ///< transitions of all memories together
  double replay_alpha = 0.6;   ///< how much priorities count; 0: uniform replay
  double replay_beta = 0.4;    ///< exponent of the weights against their bias
  /// Environment i of n takes random actions in this part of its steps to the power of 1 + ladder * i / (n - 1).
  double epsilon = 0.4;
  double ladder = 7;
  bool dual = true;  ///< double estimates
  bool dueling = true;
  double clip_norm = 10;
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the running deviation of the discounted return
  model_options model = {.hidden = {128, 128}};
  own_exploration exploration = {};  ///< instead of the way above: rl::own<my_exploration>(..)
  own_collection collection = {};    ///< changes transitions before they are kept: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy of an apex or a dqn to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_replay_options(archive, *this);
    archive(CEREAL_NVP(replays), CEREAL_NVP(replay_alpha), CEREAL_NVP(replay_beta), CEREAL_NVP(epsilon),
            CEREAL_NVP(ladder), CEREAL_NVP(copy_every), CEREAL_NVP(dual), CEREAL_NVP(dueling), CEREAL_NVP(clip_norm));
  }
};

namespace detail {
class apex_crew;
struct apex_orders;
}  // namespace detail

/// Reports have those of dqn, `lag`, the mean number of steps that the learner had taken since the
/// weights that acted, and `replay_ratio`, transitions drawn for each step of environments since
/// learning began. A memory whose rank dies is lost: the learner draws from the others until it has
/// transitions again. Workers act on between two calls of train. A checkpoint waits for the calls under
/// way, and has all that is there: networks, optimiser, filters, memories with their priorities,
/// environments, open transitions, and what workers have sent that nobody has learnt from yet. Loaded
/// and saved again by as many workers, it has the same bytes. What comes then depends on who comes
/// first, as without a checkpoint.
class apex final : public algorithm {
 public:
  using options = apex_options;

  /// Starts memories and workers. Throws manta::error if the environment's actions are not discrete, or the options
  /// make no sense.
  MANTA_DECL explicit apex(const any_environment& e, const apex_options& o = {});
  MANTA_DECL ~apex() override;

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  void start_memories();
  std::unique_ptr<detail::apex_crew> start_crew() const;
  [[nodiscard]] detail::apex_orders order() const;
  [[nodiscard]] policy::weights weights() const;
  /// Takes what a worker has sent.
  double gather();
  void take_steps(report& r);
  /// Steps of the learner; nothing while no memory has a transition.
  void learn(int count, std::map<std::string, double>& figures);
  /// A batch that is on its way from a memory.
  struct drawn {
    std::size_t memory = 0;
    future<replay::sample> call;
  };
  drawn draw();
  /// The batch, or one of another memory where that one is empty. Without transitions if all are.
  replay::sample take(drawn& d);

  apex_options options_;
  detail::dqn_learner learner_;
  std::vector<actor<replay>> memories_;
  std::unique_ptr<detail::apex_crew> crew_;
  std::uint64_t version_ = 0;            ///< steps of the learner that workers know of
  std::uint64_t draws_ = 0;              ///< batches that were asked for
  std::uint64_t drawn_ = 0, acted_ = 0;  ///< transitions drawn, and steps of environments, since learning began
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/apex.ipp"
#endif
