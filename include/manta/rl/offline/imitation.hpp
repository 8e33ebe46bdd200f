// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Policies that imitate the actions of recorded episodes. bc, behaviour cloning (Pomerleau, 1989), imitates all of them
// alike; marwil (Wang et al., 2018) counts a step the more, the better its return is than the value of its state, so
// that it becomes better than data of mixed quality. Both take any actions, and no environment.
//
//   rl::bc clone(data, {.seed = 1});
//   rl::marwil better(data, {.seed = 1, .beta = 1});
//   for (int i = 0; i < 50; ++i) std::cout << better.train() << '\n';         // each time one pass over the data
//   std::cout << rl::evaluate("CartPole-v1", better.trained(), 100) << '\n';
//   rl::ppo fine("CartPole-v1", {.begin_with = better.trained()});            // and goes on with the environment
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/learning/policy_learner.hpp"
#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/offline/imitation_worker.hpp"

namespace manta::rl {

struct bc_options {
  int workers = 1;  ///< more than one: gradients are computed by actors on any ranks, for large networks and batches
  std::uint64_t seed = 0;
  double rate = 1e-3;                  ///< learning rate of Adam
  nn::schedule schedule = {};          ///< the factor of the rate at each step that was learnt from
  int batch = 256;                     ///< steps of the data in a step of the learner
  double entropy = 0;                  ///< the weight of the entropy in the loss
  double clip_norm = 0.5;              ///< the largest norm of all gradients together; 0: any
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by those of the data
  model_options model = {};
  trained_policy begin_with = {};  ///< the policy to begin with instead of random numbers; see ppo_options

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(rate), CEREAL_NVP(batch), CEREAL_NVP(entropy),
            CEREAL_NVP(clip_norm), CEREAL_NVP(normalise_observations), CEREAL_NVP(model));
  }
};

struct marwil_options {
  int workers = 1;  ///< as in bc_options
  std::uint64_t seed = 0;
  double rate = 1e-3;          ///< learning rate of Adam
  nn::schedule schedule = {};  ///< the factor of the rate at each step that was learnt from
  double beta = 1;             ///< beta of the exponential: how much advantages count; 0 is bc
  double discount = 0.99;      ///< discount of the returns
  int batch = 256;             ///< steps of the data in a step of the learner
  double value = 0.5;          ///< the weight of the value's loss
  double most_weight = 20;     ///< the largest weight of a step, where 1 is that of one without an advantage
  double entropy = 0;          ///< the weight of the entropy in the loss
  double clip_norm = 0.5;      ///< the largest norm of all gradients together; 0: any
  bool normalise_observations = true;
  model_options model = {};
  trained_policy begin_with = {};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(rate), CEREAL_NVP(beta), CEREAL_NVP(discount),
            CEREAL_NVP(batch), CEREAL_NVP(value), CEREAL_NVP(most_weight), CEREAL_NVP(entropy), CEREAL_NVP(clip_norm),
            CEREAL_NVP(normalise_observations), CEREAL_NVP(model));
  }
};

namespace detail {

/// What bc and marwil are told in common.
struct imitation_options {
  learner_options learner;
  imitation_rule rule;
  double rate = 0, discount = 0, clip_norm = 0;
  int batch = 1;
};

/// The policy, the value of its states, and the scale of advantages.
class imitation_learner final : public policy_learner {
 public:
  MANTA_DECL imitation_learner(const std::string& name, const episodes& data, const imitation_options& o);
  /// One step with the gradients of the pieces of a batch. Adds to the sums.
  MANTA_DECL void learn(const std::vector<imitation_gradient>& pieces, std::size_t steps, imitation_gradient& sums,
                        double& norm);
  using policy_learner::learn;
  [[nodiscard]] MANTA_DECL std::string state() const override;
  MANTA_DECL void restore(const std::string& bytes) override;

  /// The value of a column of unfiltered features, in the units that returns are learnt in.
  [[nodiscard]] MANTA_DECL std::vector<float> values_of(const nn::matrix<float>& features);
  [[nodiscard]] double scale() const;
  [[nodiscard]] const imitation_options& its_options() const { return options_; }

 private:
  imitation_options options_;
  double squared_advantage_ = 1;  ///< a running mean
};

/// A pass over the data in each iteration.
class imitation : public algorithm {
 protected:
  MANTA_DECL imitation(const std::string& name, const episodes& data, const imitation_options& o);
  MANTA_DECL ~imitation() override;

  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return *learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  /// An episode in the columns of the data.
  struct line {
    std::size_t begin = 0, steps = 0;
    bool terminated = false;
  };
  void read_rewards(const episodes& data);
  [[nodiscard]] std::vector<float> returns();
  std::vector<imitation_gradient> gradients(const std::vector<imitation_piece>& pieces);
  [[nodiscard]] std::vector<imitation_piece> pieces_of(std::span<const int> batch,
                                                       const std::vector<float>& returns) const;

  std::unique_ptr<imitation_learner> learner_;
  imitation_worker here_;                         ///< computes where there is one worker
  std::vector<actor<imitation_worker>> workers_;  ///< else these do
  std::vector<line> lines_;
  std::vector<double> rewards_;      ///< rewards of all columns
  nn::matrix<float> last_;           ///< features of the states after the episodes
  double mean_ = 0, deviation_ = 1;  ///< mean and deviation of the discounted returns in the data
};

}  // namespace detail

class bc final : public detail::imitation {
 public:
  using options = bc_options;
  /// Throws manta::error if the options make no sense, or if there are no episodes.
  MANTA_DECL explicit bc(const episodes& data, const bc_options& o = {});
};

class marwil final : public detail::imitation {
 public:
  using options = marwil_options;
  /// Throws manta::error if the options make no sense, or if there are no episodes.
  MANTA_DECL explicit marwil(const episodes& data, const marwil_options& o = {});
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/imitation.ipp"
#endif
