// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// IMPALA (Espeholt et al., 2018): workers act all the time, each with the weights that it got with its last call, and
// the learner corrects by V-trace for what its policy has become since. The lag of a fragment is the number of steps
// that the learner has taken since the weights that acted. The result depends on who comes first: only with one worker
// does the same seed give the same bits. With a bound on the policy's steps it is APPO (Luo et al., 2020):
//
//   rl::impala algorithm("CartPole-v1", {.workers = 4, .clip = 0.4, .epochs = 2});
#pragma once

#include <optional>

#include "manta/rl/algorithms/option_fields.hpp"
#include "manta/rl/learning/actor_critic.hpp"
#include "manta/rl/learning/algorithm.hpp"

namespace manta::rl {

struct impala_options {
  int workers = 2;  ///< actors that act, on any ranks
  std::uint64_t seed = 0;
  int environments = 16;  ///< environments of all workers together
  int fragment = 20;      ///< steps of each environment that a worker sends together
  int batch = 320;        ///< a step of the learner takes fragments until they have this number of steps
  int updates = 8;        ///< steps of the learner in an iteration
  int lag = 0;            ///< workers get weights that are this number of versions old: for experiments
  bool v_trace = true;    ///< false: fragments count as if the learner's policy had acted
  double rho = 1;         ///< the bound of the weights of differences
  double c = 1;           ///< the bound of the weights of traces
  double lambda = 1;      ///< multiplies the weights of traces
  /// Above 0, as in APPO: the policy learns as in PPO, no further than this from the ratio 1 between its probability of
  /// an action and that of the policy before the step, so that fragments can be used again: {.clip = 0.4, .epochs = 2}
  double clip = 0;
  int epochs = 1;                  ///< how often a step of the learner uses its fragments
  double rate = 1e-3;              ///< learning rate of RMSProp
  std::uint64_t anneal_steps = 0;  ///< within them the rate falls in a line to 0; 0: the rate stays
  nn::schedule schedule = {};      ///< the factor of the rate at each step of all environments: nn::cosine(500'000)
  double discount = 0.99;
  /// The weight of the entropy in the loss. Nothing: 0.01 for choices, and 0 where an action has numbers of a box,
  /// since the entropy of these has no upper bound.
  std::optional<double> entropy = {};
  double value = 0.5;                  ///< the weight of the value's loss
  double clip_norm = 0.5;              ///< the largest norm of all gradients together; 0: any
  bool normalise_observations = true;  ///< scaled to mean 0 and deviation 1, by a running filter
  bool normalise_rewards = true;       ///< divided by the deviation of discounted returns of some 50 000 steps past
  model_options model = {};
  own_collection collection = {};  ///< changes steps before they are learnt from: rl::own<my_class>(..)

  trained_policy begin_with = {};  ///< the policy to begin with instead of random numbers; see ppo_options

  template <class Archive>
  void serialize(Archive& archive) {
    detail::archive_policy_options(archive, *this);
    archive(CEREAL_NVP(batch), CEREAL_NVP(updates), CEREAL_NVP(lag), CEREAL_NVP(v_trace), CEREAL_NVP(rho),
            CEREAL_NVP(c), CEREAL_NVP(clip), CEREAL_NVP(epochs));
  }
};

namespace detail {
class impala_crew;
}

/// Reports have `lag`, the mean of the fragments that were learnt from, `max_lag`, and `rho`, the mean of the weights;
/// with .clip also `clipped`, the part of the steps that the bound has left out.
/// Workers act on between two calls of train: each finishes one fragment, which the next call learns from.
class impala final : public algorithm {
 public:
  using options = impala_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit impala(const any_environment& e, const impala_options& o = {});
  MANTA_DECL ~impala() override;

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  struct figures {
    loss_sums sums;
    double lags = 0, max_lag = 0, rho = 0, norms = 0, clipped = 0;
    int fragments = 0;
    std::uint64_t steps = 0;  ///< each of them once
  };
  /// What V-trace makes of a fragment, by the policy before the step of the learner.
  struct valued {
    std::vector<float> log_probabilities, targets, advantages;
  };
  std::unique_ptr<detail::impala_crew> start_crew() const;
  /// What a call of a worker is to do.
  [[nodiscard]] rollout order() const;
  /// An iteration of the learner.
  void take_steps(report& r);
  /// Fragments for a step of the learner.
  std::vector<fragment> gather(figures& all);
  /// Fills in v. after: the values of the states after the fragment's lines.
  void value(const fragment& f, const nn::matrix<float>& outputs, const nn::matrix<float>& values,
             const nn::matrix<float>& after, valued& v, figures& all);
  /// The advantages by which the policy learns: those within the bound, times the ratio.
  std::vector<float> clipped(const fragment& f, const nn::matrix<float>& outputs, const valued& v, figures& all);
  /// Adds a fragment's part of the gradients of `steps` steps. v is empty in the first epoch.
  void learn(const fragment& f, double steps, valued& v, figures& all);

  impala_options options_;
  policy_learner learner_;
  std::uint64_t version_ = 0;  ///< steps of the learner
  std::unique_ptr<detail::impala_crew> crew_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/impala.ipp"
#endif
