// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rollout worker: an actor with a share of the environments of a training. It acts in all of them together and gives
// fragments of a fixed number of steps, with advantages (generalised advantage estimation, Schulman et al., 2016), or
// with rewards alone where the learner values them.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/policy.hpp"
#include "manta/rl/workers/call_history.hpp"
#include "manta/rl/workers/collection.hpp"

namespace manta::rl {

/// Steps of some environments, one column each: all steps of the first environment, then those of the next.
struct fragment {
  nn::matrix<float> observations;  ///< as the network read them: filtered; of a fragment without values unfiltered
  nn::matrix<float> actions;
  action_masks masks;  ///< allowed choices; no rows where environments have no masks
  std::vector<float> log_probabilities;
  std::vector<float> advantages, returns;         ///< there are none without values
  std::vector<unsigned char> begins;              ///< the step is the first of an episode
  nn::matrix<float> actor_states, critic_states;  ///< memories before the first step, by environment
  std::vector<moments> seen;                      ///< moments of the unfiltered observations, by environment
  std::vector<moments> gains;                     ///< moments of the discounted sums of rewards, by environment
  std::vector<episode> episodes;

  // Without values, for a learner that gives the steps their values itself:
  std::vector<double> rewards;
  std::vector<char> terminated, truncated;
  nn::matrix<float> after;  ///< states after the last steps, one of each environment, then those that were truncated

  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, actions, masks, log_probabilities, advantages, returns, begins, actor_states, critic_states,
            seen, gains, episodes, rewards, terminated, truncated, after);
  }
};

/// These columns of a fragment, without moments and episodes. For networks with a memory they have to be all steps of
/// some environments: the first step of each, then the second of each, and so on.
MANTA_DECL void choose(const fragment& from, std::span<const int> columns, fragment& to);

/// Fragments of several workers as one, in their order.
[[nodiscard]] MANTA_DECL fragment join(std::vector<fragment> parts);

/// How a fragment is made.
struct rollout {
  int steps = 128;
  double discount = 0.99, lambda = 0.95;
  double reward_scale = 1;
  bool with_values = true;  ///< the worker gives steps their advantages and returns
  /// The step of each environment that the fragment begins with, where it has to be that one: a call that was lost with
  /// its rank is then made again without a trace.
  std::uint64_t from = detail::call_history::any_step;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(steps, discount, lambda, reward_scale, with_values, from);
  }
};

namespace detail {

class rollout_worker {
 public:
  rollout_worker() = default;
  MANTA_DECL rollout_worker(const any_environment& e, std::uint64_t seed, int first, int count, const model_options& m,
                            const own_collection& collection = {});
  MANTA_DECL fragment run(const policy::weights& w, const rollout& how);
  /// All that each environment needs to go on. Throws if the environment has no serialize.
  [[nodiscard]] MANTA_DECL std::vector<std::string> state() const;
  MANTA_DECL void restore(const std::vector<std::string>& states);
  /// Begins episodes, as if each environment had taken that many steps. Returns true.
  MANTA_DECL bool begin_at(std::uint64_t step);

  /// For a restart after the death of the rank: with an environment that cannot be saved, its episodes begin anew.
  template <class Archive>
  void save(Archive& archive) const {
    archive(kind_, seed_, first_, environments_.size(), model_, kind_of_collection_, history_);
  }
  template <class Archive>
  void load(Archive& archive) {
    any_environment kind;
    std::uint64_t seed = 0;
    int first = 0, count = 0;
    model_options model;
    own_collection collection;
    call_history history;
    archive(kind, seed, first, count, model, collection, history);
    *this = rollout_worker(kind, seed, first, count, model, collection);
    if (!history.now().empty()) restore(history.now());
    history_ = std::move(history);
  }

 protected:
  /// What a call begins with. from: see rollout.
  void begin(const policy::weights& w, std::uint64_t from = call_history::any_step);
  /// What it ends with: keeps the states for a restart.
  void end();
  void act(std::uint64_t step);
  /// Throws unless an action of the program's own distribution is one.
  void check_action(Eigen::Index i) const;
  /// Writes the states after the last step of all environments, of `steps` each: those of step t.
  void write_next(Eigen::Index t, Eigen::Index steps, nn::matrix<float>& next) const;
  /// Adds the reward of an environment's last step to its discounted sum, and the sum to the moments.
  void add_gain(std::size_t i, double discount, moments& to);

  // --- the parts of run

  struct steps_made;
  /// A fragment with room for that many steps of each environment, from the states of the networks now.
  fragment new_fragment(const rollout& how) const;
  /// After act: writes what was seen and done in step t, and what the critic makes of it.
  void note_actions(std::size_t t, const rollout& how, fragment& f, steps_made& made);
  /// After the environments' step t: writes what came of it, and forgets the episodes that it has ended.
  void note_rewards(std::size_t t, const rollout& how, fragment& f, steps_made& made);
  /// The program's own collection sees the steps.
  void show_steps(const rollout& how, fragment& f, steps_made& made) const;
  /// Gives the steps their advantages and returns.
  void value_steps(const rollout& how, fragment& f, steps_made& made);
  /// Leaves it to the learner to give the steps values.
  void hand_on_steps(fragment& f, steps_made& made) const;

  any_environment kind_;
  std::uint64_t seed_ = 0;
  int first_ = 0;
  model_options model_;
  own_collection kind_of_collection_;
  vector_environment environments_;
  std::unique_ptr<distribution> distribution_;
  std::unique_ptr<const collection> collection_;  ///< null: none of the program's own
  policy policy_;
  normaliser filter_;  ///< filter by the policy's moments
  even_forward actor_, critic_;
  nn::matrix<float> filtered_, actions_, sent_, outputs_;
  std::vector<float> log_probabilities_;
  std::vector<double> gains_;          ///< discounted sums of rewards of the episodes under way
  std::vector<unsigned char> begins_;  ///< the next step is the first of an episode
  std::uint64_t steps_ = 0;
  bool has_begun_ = false;
  call_history history_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/workers/worker.ipp"
#endif
