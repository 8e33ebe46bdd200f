// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The worker of off-policy algorithms: an actor with a share of the environments of a training. It acts in all of them
// together and gives transitions over one or more steps.
#pragma once

#include <algorithm>
#include <cereal/types/vector.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/action_planner.hpp"
#include "manta/rl/policies/exploration.hpp"
#include "manta/rl/policies/filter.hpp"
#include "manta/rl/policies/policy.hpp"
#include "manta/rl/workers/call_history.hpp"
#include "manta/rl/workers/collection.hpp"

namespace manta::rl::detail {

/// What the learner sends to its workers.
struct off_policy_orders {
  nn::network<float> net;
  own_action_planner planner;  ///< acts instead of the network, if there is one
  moments filter;
  double randomness = 0;           ///< the part of actions that depend on chance alone
  std::uint64_t steps_before = 0;  ///< steps of all environments before
  double discount = 0;
  int steps = 0, n_step = 1;
  std::uint64_t from = 0;  ///< the step of each environment that they begin with
  double ladder = 0;       ///< above 0: environments differ in their randomness, as Ape-X's do
  int environments = 1;    ///< environments of all workers
  /// The randomness of environment i of all (Horgan et al., 2018).
  [[nodiscard]] double randomness_of(int i) const {
    return ladder <= 0 ? randomness : std::pow(randomness, 1 + ladder * i / std::max(1, environments - 1));
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(net, planner, filter, randomness, steps_before, discount, steps, n_step, from, ladder, environments);
  }
};

/// What else happened while the transitions were made.
struct off_policy_news {
  std::vector<moments> seen;   ///< moments of the observations, by environment
  std::vector<moments> gains;  ///< moments of the discounted sums of rewards, by environment
  std::vector<episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen, gains, episodes);
  }
};

class off_policy_worker {
 public:
  off_policy_worker() = default;
  MANTA_DECL off_policy_worker(const any_environment& e, std::uint64_t seed, int first, int count,
                               const exploration_options& how, const own_collection& collection = {});
  /// Transitions whose rewards are complete, environment by environment.
  MANTA_DECL std::pair<transitions, off_policy_news> run(const off_policy_orders& o);
  /// For checkpoints, of each environment: its state, noise and open transitions. Throws if it has no serialize.
  [[nodiscard]] MANTA_DECL std::vector<std::string> state() const;
  MANTA_DECL void restore(const std::vector<std::string>& states);
  /// Begins episodes, as if each environment had taken that many steps. Returns true.
  MANTA_DECL bool begin_at(std::uint64_t step);

  /// For a restart after the death of the rank: with an environment that cannot be saved, its episodes begin anew.
  template <class Archive>
  void save(Archive& archive) const {
    archive(kind_, seed_, first_, environments_.size(), how_, kind_of_collection_, history_);
  }
  template <class Archive>
  void load(Archive& archive) {
    any_environment kind;
    std::uint64_t seed = 0;
    int first = 0, count = 0;
    exploration_options how;
    own_collection collection;
    call_history history;
    archive(kind, seed, first, count, how, collection, history);
    *this = off_policy_worker(kind, seed, first, count, how, collection);
    if (!history.now().empty()) restore(history.now());
    history_ = std::move(history);
  }

 private:
  /// A step that waits for the rewards after it.
  struct step_taken {
    std::vector<float> observation, action, next;
    std::vector<unsigned char> next_mask;
    double reward = 0;
    float discount = 1;
    int steps = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(observation, action, next, next_mask, reward, discount, steps);
    }
  };
  using lines = std::vector<std::vector<step_taken>>;  // by environment

  void act(nn::network<float>& net, const off_policy_orders& o);
  void plan(action_planner& p);
  /// Throws unless the action of environment i is one of its space.
  void check_action(Eigen::Index i) const;
  /// Adds the step that environment i has just made, and moves what is complete to `done`.
  void record(std::size_t i, const off_policy_orders& o, const nn::matrix<float>& before, lines& done);
  [[nodiscard]] transitions in_columns(const lines& done) const;

  any_environment kind_;
  std::uint64_t seed_ = 0;
  int first_ = 0;
  exploration_options how_;
  own_collection kind_of_collection_;
  vector_environment environments_;
  std::vector<std::unique_ptr<exploration>> explorations_;  ///< explorations by environment
  std::unique_ptr<distribution> distribution_;
  std::unique_ptr<const collection> collection_;
  lines pending_;
  std::vector<std::vector<float>> plans_;  ///< a planner's memory by environment; empty where episodes begin
  std::vector<double> gains_;              ///< discounted sums of rewards of the episodes under way
  std::uint64_t steps_ = 0;
  bool has_begun_ = false;
  call_history history_;
  even_forward forward_;
  normaliser filter_;  ///< filter by the moments of the orders
  nn::matrix<float> filtered_, outputs_, actions_, sent_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/workers/off_policy_worker.ipp"
#endif
